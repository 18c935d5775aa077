# The addon: plain N-API in C, nothing linked but libc. scripts/build.mjs copies the result to dist/holdfast.node.
{
  'targets': [
    {
      'target_name': 'holdfast',
      'sources': [
        'native/addon.c', 'native/addon_poll.c', 'native/addon_process.c', 'native/addon_socket.c', 'native/addon_stamp.c',
        'native/fault.c', 'native/fd.c', 'native/process.c', 'native/shim.c', 'native/spawn.c', 'native/stamp.c',
        'native/warden_spawn.c',
      ],
      'defines': ['_GNU_SOURCE', 'NAPI_VERSION=8'],
      'cflags!': ['-fno-omit-frame-pointer'],
      'cflags': ['-std=c11', '-Wall', '-Wextra', '-Werror', '-Wconversion', '-O2', '-fvisibility=hidden'],
    },
  ],
}
