/** The CPU time of this process in ms. Unlike elapsed time, it doesn't grow while other processes run. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
