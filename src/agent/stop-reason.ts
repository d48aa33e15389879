import type { StopReason } from '../wire/agent'

/** Why the agent has to stop now: systemd knows whether the server is switched off or restarted. */
export async function stopReason(jobs: () => Promise<string> = systemdJobs): Promise<StopReason> {
  const waiting = await jobs()
  if (/\b(reboot|kexec|soft-reboot)\.target\b/.test(waiting)) return 'reboot'
  return /\b(poweroff|halt)\.target\b/.test(waiting) ? 'shutdown' : 'stop'
}

/** The jobs of systemd, one a line; none without systemd. */
async function systemdJobs(): Promise<string> {
  try {
    const jobs = Bun.spawn(['systemctl', 'list-jobs', '--no-legend', '--no-pager', '--plain'], {
      stdout: 'pipe',
      stderr: 'ignore',
      timeout: 2000,
    })
    return await new Response(jobs.stdout).text()
  } catch {
    return ''
  }
}
