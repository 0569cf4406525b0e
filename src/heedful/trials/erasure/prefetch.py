# mypy: allow-untyped-defs, allow-incomplete-defs
"""Asking the processor for memory before it is needed, in compiled loops.

A loop that reads several rows at once reads in no order that a processor foresees, and then waits for most of
what it reads. A request changes nothing but time, and one past the end of an array is harmless.

Imports numba, so only `heedful.trials.erasure.kernel` imports this file.
"""

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

LINE = 64  # bytes that come with one request


@intrinsic
def prefetch(typing, flat, place):
    """Ask for the line of the array `flat` (of one axis) that holds the number at `place`."""

    def emit(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        request = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), pointer)
        # To read (0), into every cache (3), of data (1).
        builder.call(request, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(flat, place), emit
