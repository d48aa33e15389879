import { formatUtcMinute } from '../core/clock'
import { masterKeyFile } from '../core/config'
import type { Hub } from '../core/hub'
import { nextRunAtInOpenLanes } from '../core/jobs/queue'
import { loadMasterKey } from '../core/master-key'
import type { HubState } from '../features/installation/installation'
import type { InstallationProblemView } from '../features/installation/shapes'
import { maxJobDelayMs, readiness } from './health'
import { jobKinds } from './jobs'
import { checkTls, expiringSoonMs, readTls } from './tls-files'

/** What the state of the installation includes of this hub. */
export async function installationState(hub: Hub): Promise<HubState> {
  const { checks } = await readiness(hub)
  const failing = Object.entries(checks).flatMap(([name, { status, detail }]): InstallationProblemView[] =>
    status === 'ok' || detail === null
      ? []
      : [
          {
            subject: name === 'storage' ? 'disk' : 'health',
            severity: status === 'failing' ? 'critical' : 'warning',
            text: detail,
            help: '/docs/api#health-and-metrics',
          },
        ],
  )
  // Jobs of a lane whose hold has just ended start one by one.
  const overdue = hub.clock.now() - maxJobDelayMs
  const next = await Promise.all(jobKinds.map(({ kind }) => nextRunAtInOpenLanes(hub.read, kind, overdue)))
  return {
    problems: [...failing, ...certificateProblem(hub)],
    nextJobAt: next.reduce((first, at) => (at === null || (first !== null && first <= at) ? first : at), null),
    isRotating: isRotating(hub),
  }
}

function certificateProblem({ config, clock }: Hub): InstallationProblemView[] {
  const problem = (severity: InstallationProblemView['severity'], text: string): InstallationProblemView[] => [
    { subject: 'certificate', severity, text, help: '/docs/settings#bailiwick_tls_cert' },
  ]
  try {
    const files = readTls(config)
    if (!files) return []
    const to = checkTls(config, files).validToDate.getTime()
    if (clock.now() >= to)
      return problem('critical', `${config.tlsCert} expired on ${formatUtcMinute(to)}. Renew the certificate.`)
    if (to - clock.now() > expiringSoonMs) return []
    return problem('warning', `${config.tlsCert} is valid until ${formatUtcMinute(to)}. Renew it soon.`)
  } catch (error) {
    return problem('critical', (error as Error).message)
  }
}

/** Whether the key file still contains the previous key. */
function isRotating({ config }: Hub): boolean {
  try {
    return loadMasterKey(masterKeyFile(config), false).previous !== null
  } catch {
    return false
  }
}
