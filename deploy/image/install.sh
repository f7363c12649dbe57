#!/bin/sh
# Installs adsunify into a new virtual environment, as the image has it. The Dockerfile and `nox -s image` run it.
#
# usage: install.sh SOURCE TARGET
#
# SOURCE is the folder with pyproject.toml, TARGET the folder of the environment. $PYTHON is the interpreter.
# Every package has the version and a hash of the lock files beside this script; `nox -s lock` renews them.
set -eu

source=$1
target=$2
locks=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run_pip() {
    "$work/build/bin/python" -m pip --disable-pip-version-check --no-cache-dir --quiet "$@"
}

# The build backend is locked, too: without --no-build-isolation, pip would install its newest version.
"$python" -m venv "$work/build"
run_pip install --require-hashes --only-binary :all: -r "$locks/build-requirements.txt"
run_pip wheel --no-deps --no-build-isolation --wheel-dir "$work/wheel" "$source"

# The environment gets no pip. pip compiles the bytecode, because nobody can write it later.
"$python" -m venv --without-pip "$target"
run_pip --python "$target/bin/python" install --require-hashes --only-binary :all: -r "$locks/requirements.txt"
run_pip --python "$target/bin/python" install --no-deps --no-index "$work"/wheel/*.whl
run_pip --python "$target/bin/python" check
chmod -R a+rX,a-w "$target"
