import type { ActionView } from '../../../features/actions/shapes'
import { capitalize, humanize } from '../../parts/status'

const titles: Record<string, string> = {
  'zone.apply': 'Apply zone changes',
  'server.snapshot': 'Create snapshot',
  'server.restore_snapshot': 'Restore snapshot',
}
const statusLabels: Partial<Record<string, string>> = { success: 'succeeded', error: 'failed' }

/** Titles of steps whose names say too little, by the type of the action. */
const stepTitles: Record<string, Record<string, string>> = {
  'certificate.issue': {
    check: 'Check names and account',
    order: 'Order certificate',
    publish: 'Publish DNS records',
    wait: 'Wait for name servers',
    validate: 'Validate names',
    finalize: 'Send certificate request',
    store: 'Store certificate',
    deliver: 'Install certificate',
  },
}

/** Returns the label of a status: `success` is shown as “succeeded”. */
export const statusLabelOf = ({ status }: { status: string }): string => statusLabels[status] ?? humanize(status)

/** Returns a readable title: `webhook_endpoint.recover` becomes “Recover webhook endpoint”. */
export function titleOf({ type }: ActionView): string {
  const [resource = '', ...verb] = type.split('.')
  if (titles[type]) return titles[type]
  return capitalize(`${humanize(verb.join(' '))} ${humanize(resource)}`.trim())
}

/** Returns a readable title of a step. */
export const stepTitleOf = ({ type }: ActionView, { name }: ActionView['steps'][number]): string =>
  stepTitles[type]?.[name] ?? capitalize(humanize(name))
