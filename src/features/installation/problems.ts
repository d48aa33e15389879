import { formatUtcMinute } from '../../core/clock'
import { formatMebibytes, lowFreeBytes, minFreeBytes } from '../../core/disk'
import { backupProblem, type LastBackup } from '../../core/last-backup'
import { pluralize } from '../../core/pluralize'
import type { InstallationProblemView, InstallationView } from './shapes'

type Facts = Omit<InstallationView, 'problems'>
type Problem = InstallationProblemView

// Normally, due jobs start within seconds.
const maxDelayMs = 5 * 60_000

/** The checks. Each problem says what to do. */
const checks: readonly ((facts: Facts, now: number) => Problem | null)[] = [
  ({ disk, database }) => {
    // Writes fail below the minimum, which is a failing health check.
    if (database.engine !== 'sqlite' || disk.free_bytes >= lowFreeBytes || disk.free_bytes < minFreeBytes) return null
    const text = `The disk of ${disk.folder} has only ${formatMebibytes(disk.free_bytes)} free. Free up disk space soon.`
    return { subject: 'disk', severity: 'warning', text, help: '/docs/storage' }
  },
  ({ jobs: { oldest_due_at: at } }, now) => {
    if (at === null || now - Date.parse(at) <= maxDelayMs) return null
    const text = `Background jobs have been waiting since ${formatUtcMinute(Date.parse(at))}. Check the load of the machine and the log of the hub.`
    return { subject: 'jobs', severity: 'warning', text, help: '/docs/architecture' }
  },
  ({ jobs: { failed } }) => {
    if (failed.length === 0) return null
    const total = failed.reduce((sum, one) => sum + one.count, 0)
    const errors = failed.map(one => `${one.kind} (${one.last_error.replace(/\.$/, '')})`).join(', ')
    const text = `${pluralize(total, 'background jobs')} failed permanently and won’t be retried: ${errors}. See the log of the hub for details.`
    return { subject: 'jobs', severity: 'warning', text, help: '/docs/notices' }
  },
  ({ mail }) => {
    const help = '/docs/settings#bailiwick_smtp_url'
    if (!mail.configured) {
      const text =
        'The installation can’t send email: users can’t reset their passwords, and you have to share invitation links yourself. ' +
        'Set BAILIWICK_SMTP_URL and BAILIWICK_MAIL_FROM.'
      return { subject: 'mail', severity: 'info', text, help }
    }
    if (mail.last_error === null) return null
    const text = `The last email could not be sent: ${mail.last_error} Check BAILIWICK_SMTP_URL and BAILIWICK_MAIL_FROM.`
    return { subject: 'mail', severity: 'warning', text, help }
  },
  ({ keys }) => {
    if (!keys.rotating) return null
    const text =
      'The rotation of the master key is not completed: the key file contains two keys. Run bailiwick keys rotate-master to complete it.'
    return { subject: 'keys', severity: 'warning', text, help: '/docs/keys' }
  },
  ({ hubs }) => {
    const versions = [...new Set(hubs.filter(one => one.running).map(one => one.version))].sort()
    if (versions.length < 2) return null
    const text = `The running hubs have different versions: ${versions.join(', ')}. Update all of them.`
    return { subject: 'hubs', severity: 'warning', text, help: '/docs/storage' }
  },
]

/** The problems that follow from the facts. */
export function problemsOf(facts: Facts, backup: LastBackup | null, now: number): Problem[] {
  const found = checks.map(check => check(facts, now)).filter(problem => problem !== null)
  const text = backupProblem(backup, Date.parse(facts.created_at), now)
  return text === null ? found : [{ subject: 'backup', severity: 'warning', text, help: '/docs/backups' }, ...found]
}
