import { Pencil, Plus, Trash2 } from 'lucide-react'
import type { ControllerKindView, ServerControllerView } from '../../../features/servers/server-controllers/shapes'
import type { ServerView } from '../../../features/servers/shapes'
import { accountStatus, CheckOutcome, type CheckedAccounts } from '../../parts/account-check'
import { SettingsFields, SettingsGroups, settingsOf, settingValues } from '../../parts/adapter-settings'
import { Advanced } from '../../parts/advanced'
import { Button } from '../../parts/button'
import { Menu } from '../../parts/menu'
import { confirmDelete, openForm } from '../../parts/open-dialog'
import { Card } from '../../parts/page'
import { SendButton } from '../../parts/send-button'
import { Status } from '../../parts/status'
import { RelativeTime } from '../../parts/time'
import { useOne } from '../../queries'
import { usePerson } from '../../session'
import { invalidates } from './server-text'

const checked: CheckedAccounts = { noun: 'controller', help: '/docs/controllers#checks' }
const untilCheckedMs = 1500

/** Ways to control the power of a server, such as its BMC. */
export function ServerControllers({ server: { id, name } }: { server: ServerView }) {
  const { canWrite } = usePerson()
  const kinds = useOne<{ data: ControllerKindView[] }>('/controller-kinds').data?.data ?? []
  const found = useOne<{ data: ServerControllerView[] }>(
    `/servers/${id}/controllers`,
    {},
    { refetchMs: ({ data }) => data.some(one => one.state === 'unknown') && untilCheckedMs },
  )
  const controllers = found.data?.data ?? []
  const others = kinds.filter(({ kind }) => !controllers.some(one => one.kind === kind))
  return (
    <Card
      title="Controllers"
      flush
      actions={
        canWrite &&
        others.length > 0 && (
          <Menu
            label="Add controller"
            className="inline-flex h-7 items-center gap-1.5 rounded-md border border-line bg-surface px-2 text-[13px] font-medium hover:bg-hover"
            items={others.map(kind => ({ label: kind.title, onSelect: () => edit(id, kind, null) }))}
          >
            <Plus className="size-3.5" aria-hidden />
          </Menu>
        )
      }
    >
      <ul className="divide-y divide-line">
        {controllers.map(one => (
          <Controller key={one.id} controller={one} serverName={name} kind={kinds.find(({ kind }) => kind === one.kind)} />
        ))}
        {found.data && controllers.length === 0 && (
          <li className="p-4 text-muted">Add the BMC, SSH, or Wake-on-LAN, to see and control the power of the server.</li>
        )}
      </ul>
    </Card>
  )
}

interface ControllerProps {
  controller: ServerControllerView
  serverName: string
  kind: ControllerKindView | undefined
}

function Controller({ controller, serverName, kind }: ControllerProps) {
  const { canWrite } = usePerson()
  const { server_id: id, state, last_error: error, power, power_at: at } = controller
  const path = `/servers/${id}/controllers/${controller.kind}`
  const title = kind?.title ?? controller.kind
  const remove = () =>
    confirmDelete({
      noun: 'controller',
      name: `${title} of ${serverName}`,
      path,
      invalidates,
      text: 'This deletes its credentials. Nothing changes at the server.',
    })
  return (
    <li className="flex flex-col gap-2 px-4 py-3">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{title}</span>
        <Status {...accountStatus(controller)} />
        <span className="grow text-[13px] text-muted">
          {at !== null && (
            <>
              Power {power}, <RelativeTime at={at} />
            </>
          )}
        </span>
        {canWrite && (
          <>
            <SendButton small call={{ method: 'POST', path: `${path}/check` }} send={{ invalidates }} sendingLabel="Checking…">
              Check
            </SendButton>
            {kind && <Button small icon={Pencil} aria-label={`Edit ${title}`} onClick={() => edit(id, kind, controller)} />}
            <Button small kind="danger" icon={Trash2} aria-label={`Delete ${title}`} onClick={remove} />
          </>
        )}
      </div>
      {state !== 'unknown' && <CheckOutcome {...controller} state={state} error={error} of={checked} />}
    </li>
  )
}

/** Opens the settings of a controller. Secrets that are left empty are kept. */
function edit(serverId: string, kind: ControllerKindView, controller: ServerControllerView | null): void {
  openForm({
    title: `${controller ? 'Edit' : 'Add'} ${kind.title}`,
    submitLabel: controller ? 'Save changes' : 'Add controller',
    initial: settingValues(kind, controller?.settings),
    defaults: settingValues(kind),
    call: values => ({
      method: 'PUT',
      path: `/servers/${serverId}/controllers/${kind.kind}`,
      body: { settings: settingsOf(kind, values) },
      ...(controller && { ifMatch: controller.version }),
    }),
    send: { toast: 'Controller saved', invalidates },
    fields: (
      <>
        <SettingsFields kind={kind} secretsSet={controller?.secrets_set} />
        <Advanced>
          <SettingsGroups kind={kind} secretsSet={controller?.secrets_set} />
        </Advanced>
      </>
    ),
  })
}
