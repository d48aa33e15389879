import { Power, PowerOff, RotateCcw, type LucideIcon } from 'lucide-react'
import { useQueryClient } from '@tanstack/react-query'
import type { ServerView } from '../../../features/servers/shapes'
import { ApiError, call, type Call } from '../../client'
import { Button } from '../../parts/button'
import { openForm } from '../../parts/open-dialog'
import { pluralize } from '../../parts/plural'
import { toast } from '../../parts/toast'
import { invalidatePath } from '../../queries'
import { invalidates, verbTitles, type Verb } from './server-text'

interface BulkPowerProps {
  servers: readonly ServerView[]
  onSuccess(): void
}

interface BulkVerb {
  verb: Verb
  icon: LucideIcon
  text: string
  danger?: true
}

const verbs: readonly BulkVerb[] = [
  { verb: 'power_on', icon: Power, text: 'They start.' },
  { verb: 'shutdown', icon: PowerOff, text: 'Their systems are asked to shut down.' },
  { verb: 'reboot', icon: RotateCcw, text: 'Their systems are asked to restart.' },
  {
    verb: 'power_off',
    icon: PowerOff,
    text: 'They are switched off at once, like pulling the plug. Unsaved data is lost.',
    danger: true,
  },
]

/** Buttons that perform a power action on the selected servers, after a confirmation. */
export function BulkPower({ servers, onSuccess }: BulkPowerProps) {
  const client = useQueryClient()
  const open = ({ verb, text, danger }: BulkVerb) => {
    const possible = possibleFor(servers, verb)
    const callFor = ({ id }: ServerView): Call => ({ method: 'POST', path: `/servers/${id}/actions`, body: { action: verb } })
    openForm({
      title: `${verbTitles[verb]} ${pluralize(possible.length, 'server', 'servers')}?`,
      submitLabel: `${verbTitles[verb]} ${pluralize(possible.length, 'server', 'servers')}`,
      description: text,
      ...(danger && { danger, typeToConfirm: possible.length > 1 ? String(possible.length) : possible[0]!.name }),
      initial: {},
      call: () => callFor(possible[0]!),
      send: async () => {
        const failed: string[] = []
        // One by one: clouds limit requests.
        for (const one of possible)
          await call(callFor(one)).catch((error: unknown) => {
            if (!(error instanceof ApiError)) throw error
            failed.push(`${one.name}: ${error.message}`)
          })
        await Promise.all(invalidates.map(path => invalidatePath(client, path)))
        const started = possible.length - failed.length
        if (started > 0) toast.success(`${pluralize(started, 'action', 'actions')} started`, { to: '/actions' })
        if (failed.length > 0) throw new ApiError(409, 'conflict', failed.join(' '), [], null, {})
        onSuccess()
      },
      fields: (
        <ul className="max-h-60 overflow-y-auto">
          {possible.map(one => (
            <li key={one.id}>{one.name}</li>
          ))}
          {possible.length < servers.length && (
            <li className="text-muted">
              Not possible for {pluralize(servers.length - possible.length, 'other server', 'other servers')}.
            </li>
          )}
        </ul>
      ),
    })
  }
  return verbs.map(one => (
    <Button
      key={one.verb}
      small
      icon={one.icon}
      kind={one.danger ? 'danger' : 'secondary'}
      disabled={possibleFor(servers, one.verb).length === 0}
      onClick={() => open(one)}
    >
      {verbTitles[one.verb]}
    </Button>
  ))
}

const possibleFor = (servers: readonly ServerView[], verb: Verb): ServerView[] =>
  servers.filter(one => one.actions.some(({ action }) => action === verb))
