/** The library of the package libfaketime. A program that loads it has a wrong clock. */
export const faketime = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketimeMT.so.1`
