import { ticksPerSecond } from './busy-processes'
import { words } from './figures'
import { Root } from './root'

/**
 * Time from the boot of the server until this program started (s). In a container, `/proc/uptime` can be the time since the kernel booted,
 * long before the container did. The start of processes always counts from the boot of the kernel.
 */
export function bootedBeforeStart(root: Root): number {
  const startOf = (stat: string | null) => Number(words(stat?.slice(stat.lastIndexOf(')') + 1) ?? '')[19])
  // The kernel can hide the first process (hidepid in proc(5)). On a machine of its own, it starts with the kernel.
  const first = startOf(root.text('proc/1/stat')) || 0
  return (startOf(new Root().text('proc/self/stat')) - first) / ticksPerSecond || 0
}
