"""A program cannot take the machine's threads."""

import ctypes

libc = ctypes.CDLL(None)


async def main(input):
    attributes, thread, count = (ctypes.c_char * 64)(), ctypes.c_ulong(), 0
    libc.pthread_attr_init(attributes)
    libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(16384))
    libc.pthread_attr_setguardsize(attributes, ctypes.c_size_t(0))
    pause = ctypes.cast(libc.pause, ctypes.c_void_p)
    while libc.pthread_create(ctypes.byref(thread), attributes, pause, None) == 0:
        count += 1
    return {"threads": count}
