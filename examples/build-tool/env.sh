# The environment of the example where no launcher is named: any script that sets variables will do.
export TOOLCHAIN=example
