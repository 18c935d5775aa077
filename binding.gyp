# The addon: plain N-API in C, nothing linked but libc. scripts/build.mjs copies the result to dist/holdfast.node. For a clone; a package
# is built by scripts/build-addon.sh, which needs no node-gyp.
{
  'targets': [
    {
      'target_name': 'holdfast',
      'sources': ['<!@(cat native/addon.sources)'],
      'defines': ['_GNU_SOURCE', 'NAPI_VERSION=8'],
      'cflags!': ['-fno-omit-frame-pointer'],
      'cflags': ['-std=c11', '-Wall', '-Wextra', '-Werror', '-Wconversion', '-O2', '-fvisibility=hidden'],
    },
  ],
}
