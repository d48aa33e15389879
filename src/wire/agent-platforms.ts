/** Servers for which there is a program of the agent: processor, C library unless it is glibc, and `baseline` without AVX2. */
export const agentPlatforms = [
  'linux-x64',
  'linux-x64-baseline',
  'linux-x64-musl',
  'linux-x64-musl-baseline',
  'linux-arm64',
  'linux-arm64-musl',
] as const
