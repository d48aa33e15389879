import type { StopReason } from '../wire/agent'

/** Why the agent has to stop now: systemd knows whether the server is switched off or restarted. */
export async function stopReason(jobs: () => Promise<string> = systemdJobs): Promise<StopReason> {
  const waiting = await jobs()
  if (/\b(reboot|kexec|soft-reboot)\.target\b/.test(waiting)) return 'reboot'
  return /\b(poweroff|halt)\.target\b/.test(waiting) ? 'shutdown' : 'stop'
}

const attempts = 2
/** The service is killed 20 seconds after it was asked to stop. */
const attemptMs = 5000

/** The jobs of systemd, one a line; none without systemd. A busy server may answer only the second time. */
async function systemdJobs(): Promise<string> {
  try {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const jobs = Bun.spawn(['systemctl', 'list-jobs', '--no-legend', '--no-pager', '--plain'], {
        stdout: 'pipe',
        stderr: 'ignore',
        timeout: attemptMs,
      })
      const text = await new Response(jobs.stdout).text()
      if ((await jobs.exited) === 0) return text
    }
  } catch {
    // There is no systemd.
  }
  return ''
}
