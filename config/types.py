"""What all sections of a configuration share: numbers with their bounds, vectors, the strict base class."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Vec3 = tuple[Number, Number, Number]
Positive3 = tuple[NonNegative, NonNegative, NonNegative]
Range = tuple[Number, Number]  # lower, upper


class Section(BaseModel):
    """Base: unknown keys are errors, objects are frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True)
