# Every target does its own set-up. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.ONESHELL:
.SHELLFLAGS := -euo pipefail -c

PYTHON  ?= $(shell command -v python3.11 || command -v python3)
ROBOT   ?= mini_cheetah
PLANT   ?= sim
SCENARIO ?= trot_forward
LOG     ?=
LCM_URL ?= udpm://239.255.76.67:7667?ttl=0
GUI     ?=
ARGS    ?=

RUN  := .venv/bin/python -m
URL  := --lcm-url '$(LCM_URL)'
WITH := --robot $(ROBOT) $(URL) $(ARGS)
REPLAY_URL := udpm://239.255.76.68:7668?ttl=0

.PHONY: help setup setup-hardware types walk up sim estimator controller packer bridge bring-up relay teleop dashboard \
        parameters record replay play inspect export report spy spy-text scenario seeds robot-check doctor test check bench clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.venv/ready: requirements.lock
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || {
	  echo "Python 3.11 is needed; found: $$("$(PYTHON)" --version 2>&1 || echo none). Install it, or: make PYTHON=/path/to/python3.11" >&2
	  exit 2
	}
	echo "setting up .venv (once) ..."
	"$(PYTHON)" -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	touch $@

.venv/dashboard .venv/test: .venv/%: requirements-%.lock .venv/ready
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

build/kernels: .venv/ready $(shell grep -lr --include=*.py njit procs sim 2>/dev/null)
	@$(RUN) tools.warm
	mkdir -p build && touch $@

setup: .venv/ready types build/kernels  ## virtual environment, message types, compiled kernels

setup-hardware: .venv/ready  ## what the hardware bridge needs on top (builds spidev: needs a C compiler)
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-hardware.lock

types: .venv/ready  ## generate the message classes from lcmtypes/*.lcm
	@$(RUN) lcmtypes.generate

walk: setup  ## stand up, trot, turn, stop, lie down over LCM; leaves a log and a picture (GUI=1: window)
	@$(RUN) tools.walk $(if $(GUI),--gui) $(ARGS)

up: setup  ## start all processes and keep them running until Ctrl-C (PLANT=sim|bridge|emulated)
	@$(RUN) tools.up $(WITH) --plant $(PLANT) $(if $(GUI),--gui)

sim: setup  ## the simulator alone
	@exec $(RUN) sim $(WITH) $(if $(GUI),--gui)

estimator: setup  ## the state estimator alone
	@exec $(RUN) procs.estimator $(WITH)

controller: setup  ## the controller alone
	@exec $(RUN) procs.controller $(WITH)

bridge: setup  ## the hardware bridge alone (BUS_DIR=...: emulated hardware in that folder)
	@exec $(RUN) procs.bridge $(WITH) $(if $(BUS_DIR),--bus-dir "$(BUS_DIR)")

bring-up: setup  ## first contact with motors, step by step (BUS_DIR=...: emulated; see procs/bridge/BRING_UP.md)
	@$(RUN) tools.bring_up --robot $(ROBOT) $(if $(BUS_DIR),--bus-dir "$(BUS_DIR)") $(ARGS)

packer: setup  ## the leg-command packer alone
	@exec $(RUN) procs.packer $(WITH)

record: setup  ## record every channel into logs/ (RECORDER=lcm-logger: the real one, which may drop)
	@mkdir -p logs
	if [ "$(RECORDER)" = lcm-logger ]; then
	  exec .venv/bin/lcm-logger -l '$(LCM_URL)' "$(or $(LOG),logs/$$(date +%Y%m%d_%H%M%S).lcmlog)"
	fi
	exec $(RUN) tools.record --robot $(ROBOT) $(URL) $(if $(LOG),--out "$(LOG)") $(ARGS)

dashboard: setup .venv/dashboard  ## the robot in the browser: 3D, modes, speeds, plots, console, E-STOP
	@exec $(RUN) tools.dashboard $(if $(filter command line,$(origin ROBOT)),--robot $(ROBOT)) $(URL) $(ARGS)

teleop: setup  ## drive it with the keyboard (ARGS=--gamepad: a gamepad)
	@exec $(RUN) tools.teleop $(if $(filter command line,$(origin ROBOT)),--robot $(ROBOT)) $(URL) $(ARGS)

relay: setup  ## MIT's own channels beside ours, for tools made for MIT's software
	@exec $(RUN) procs.mit_relay $(WITH)

spy-text: setup  ## all channels in the terminal: rates, jitter, losses, fields (ARGS='--once 3', --json)
	@exec $(RUN) tools.spy_text $(URL) $(ARGS)

parameters: setup  ## live parameters: ARGS='list', 'set control.stand.kp.0=90', 'save tuned.yaml'
	@$(RUN) tools.parameters $(or $(ARGS),list) $(URL)

inspect: setup  ## what is in LOG=...: channels, losses, modes, faults
	@$(RUN) tools.inspect "$(LOG)" $(ARGS)

export: setup  ## LOG=... as OUT=....csv, .npz, .mat or .mcap
	@$(RUN) tools.export "$(LOG)" "$(OUT)" $(ARGS)

report: setup  ## why did it fall? one HTML page of LOG=...
	@$(RUN) tools.report "$(LOG)" $(ARGS)

play: setup  ## play LOG=... with pause, seek and speed, on a URL of its own
	@exec $(RUN) tools.play "$(LOG)" $(ARGS)

doctor: .venv/ready  ## what this machine lacks, each with the command that mends it
	@$(RUN) tools.doctor $(URL) $(ARGS)

replay: setup  ## play LOG=... with the real lcm-logplayer, without joint_command, on a URL of its own
	@[ -f "$(LOG)" ] || { echo "which log? make replay LOG=logs/....lcmlog" >&2; exit 2; }
	$(RUN) tools.play_copy "$(LOG)" build/replay.lcmlog
	echo "playing on $(REPLAY_URL): make spy LCM_URL='$(REPLAY_URL)'"
	exec .venv/bin/lcm-logplayer -l '$(REPLAY_URL)' $(ARGS) build/replay.lcmlog

spy: setup  ## the real lcm-spy with our types (needs Java and a display)
	@exec $(RUN) tools.spy $(URL)

scenario: setup  ## run SCENARIO=... and check what must come out (ARGS='--seeds 10')
	@$(RUN) tools.scenario $(SCENARIO) $(ARGS)

seeds: setup  ## every scenario with ten seeds; prints what is not met (an hour on two cores)
	@$(RUN) tools.seeds $(ARGS)

robot-check: setup  ## masses, inertias and kinematics of every robot against PyBullet
	@$(RUN) tools.robot_check $(ARGS)

check: .venv/ready  ## lint, types, import contract, generated code
	@.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy config lcmtypes procs sim tools
	.venv/bin/lint-imports
	$(RUN) lcmtypes.generate --check

test: setup .venv/test check  ## everything that must hold: check, then all tests
	@.venv/bin/python -m pytest -n 2 --dist worksteal -q $(ARGS)

bench: setup  ## step times, MPC split, latency, lateness, real-time factors: one table and build/bench.json
	@$(RUN) tools.bench $(ARGS)

clean:  ## remove what was built (not logs)
	@rm -rf build .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
