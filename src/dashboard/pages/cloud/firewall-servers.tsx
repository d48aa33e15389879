import { Plus } from 'lucide-react'
import type { ActionView } from '../../../features/actions/shapes'
import type { AgentView } from '../../../features/servers/agents/shapes'
import type { FirewallView } from '../../../features/servers/firewalls/shapes'
import type { ServerView } from '../../../features/servers/shapes'
import type { Call } from '../../client'
import { Button } from '../../parts/button'
import { ListCard } from '../../parts/list-card'
import { Menu } from '../../parts/menu'
import { closeDialog, openDialog } from '../../parts/open-dialog'
import { ChooseManyField } from '../../parts/pick-field'
import { ResourceLink } from '../../parts/resource'
import { useResourceNames } from '../../parts/resource-search'
import { capitalize, humanize, Status } from '../../parts/status'
import { RelativeTime } from '../../parts/time'
import { usePerson } from '../../session'
import { useCloudKindTitles } from './accounts'
import { entryText, toneOfFirewall } from './firewall-text'
import { GuardedForm } from './guarded-form'

type Attachment = FirewallView['attached'][number]

interface FirewallServersProps {
  firewall: FirewallView
  onStart(action: ActionView): void
}

/** The servers that have a firewall, and its state there. */
export function FirewallServers({ firewall, onStart }: FirewallServersProps) {
  const { canWrite } = usePerson()
  const names = useResourceNames(firewall.attached.map(one => one.server_id))
  const titleOf = useCloudKindTitles()
  const isBusy = firewall.action_id !== null
  const attach = () =>
    openDialog({
      title: `Attach ${firewall.name}`,
      description: 'From then on, these servers drop all incoming traffic that none of their firewalls allows.',
      content: <AttachForm firewall={firewall} onStart={onStart} />,
    })
  return (
    <ListCard
      title="Servers"
      rows={firewall.attached}
      keyOf={one => one.server_id}
      empty="Not attached to any server, so the rules have no effect."
      actions={
        canWrite && (
          <Button small icon={Plus} disabled={isBusy} onClick={attach}>
            Attach servers
          </Button>
        )
      }
    >
      {one => {
        // Blank while the names load.
        const name = names.size === 0 ? '\u00a0' : (names.get(one.server_id) ?? one.server_id)
        return (
          <>
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <span className="min-w-0 grow">
                <ResourceLink id={one.server_id} type="server" name={name} />
              </span>
              <span className="text-[13px] text-muted">
                {one.enforcer === 'agent' ? 'Agent' : titleOf(one.enforcer)}
                {one.by === 'selector' && ', by its labels'}
                {one.applied_at && (
                  <>
                    , version {one.rules_version}, <RelativeTime at={one.applied_at} />
                  </>
                )}
              </span>
              <Status status={one.state} label={capitalize(humanize(one.state))} tone={toneOfFirewall(one.state)} />
              {canWrite && <AttachmentMenu firewall={firewall} attachment={one} name={name} isBusy={isBusy} onStart={onStart} />}
            </div>
            {one.error && <p className="mt-1 text-[13px] text-bad wrap-anywhere">{one.error}</p>}
            {one.warning && <p className="mt-1 text-[13px] text-warn wrap-anywhere">{one.warning}</p>}
            {one.drift && <Drift drift={one.drift} isOnHost={one.enforcer === 'agent'} />}
          </>
        )
      }}
    </ListCard>
  )
}

const Drift = ({ drift, isOnHost }: { drift: NonNullable<Attachment['drift']>; isOnHost: boolean }) => (
  <div className="mt-1 text-[13px] text-warn">
    {!drift.is_attached
      ? 'The server no longer has the firewall.'
      : isOnHost
        ? 'Something on the server changed the rules.'
        : 'Changed at the cloud:'}
    {drift.changed_defaults.map(way => (
      <p key={way}>{way === 'in' ? 'The default for incoming traffic' : 'The default for outgoing traffic'}</p>
    ))}
    {drift.is_attached && (
      <ul className="pl-4 font-mono wrap-anywhere">
        {drift.added.map(one => (
          <li key={entryText(one)}>+ {entryText(one)}</li>
        ))}
        {drift.removed.map(one => (
          <li key={entryText(one)}>− {entryText(one)}</li>
        ))}
      </ul>
    )}
  </div>
)

interface AttachmentMenuProps extends FirewallServersProps {
  attachment: Attachment
  name: string
  isBusy: boolean
}

function AttachmentMenu({ firewall, attachment, name, isBusy, onStart }: AttachmentMenuProps) {
  const path = `/firewalls/${firewall.id}`
  const change = (title: string, description: string, request: Call, submitLabel: string, overrideLabel: string) =>
    openDialog({
      title,
      description,
      content: (
        <GuardedForm
          initial={{}}
          callFor={() => request}
          submitLabel={submitLabel}
          overrideLabel={overrideLabel}
          onCancel={closeDialog}
          onStart={action => {
            closeDialog()
            onStart(action)
          }}
        >
          {null}
        </GuardedForm>
      ),
    })
  const detach = () =>
    change(
      `Detach ${name}`,
      'A server without firewalls accepts all traffic.',
      { method: 'POST', path: `${path}/detach`, body: { server_ids: [attachment.server_id] } },
      'Detach server',
      'Override and detach',
    )
  const adopt = () =>
    change(
      'Adopt the rules at the cloud?',
      `The rules that ${name} has at its cloud become the rules of the firewall, and are applied to all its servers.`,
      { method: 'POST', path: `${path}/adopt`, body: { server_id: attachment.server_id } },
      'Adopt rules',
      'Override and adopt',
    )
  return (
    <Menu
      label={`Actions for ${name}`}
      items={[
        attachment.drift?.is_attached && attachment.drift.added.length + attachment.drift.removed.length > 0
          ? { label: 'Adopt rules', onSelect: adopt }
          : null,
        isBusy || attachment.by === 'selector' || attachment.state === 'detaching'
          ? null
          : { label: 'Detach server', danger: true, onSelect: detach },
      ]}
    />
  )
}

/** Whether the agent of a server may change its firewall. */
const mayEnforce = ({ expanded }: ServerView): boolean =>
  (expanded?.agent as AgentView | null | undefined)?.allow.includes('firewall') ?? false

function AttachForm({ firewall, onStart }: FirewallServersProps) {
  return (
    <GuardedForm
      initial={{ server_ids: [] }}
      callFor={({ server_ids }) => ({ method: 'POST', path: `/firewalls/${firewall.id}/attach`, body: { server_ids } })}
      submitLabel="Attach servers"
      overrideLabel="Override and attach"
      onCancel={closeDialog}
      onStart={action => {
        closeDialog()
        onStart(action)
      }}
    >
      <ChooseManyField<ServerView>
        name="server_ids"
        label="Servers"
        list="/servers"
        filter={{ expand: 'agent' }}
        isOffered={one =>
          (one.provider_ref !== null || mayEnforce(one)) && !firewall.attached.some(each => each.server_id === one.id)
        }
        none={<p className="text-muted">All servers at clouds and with an agent that may change its firewall have it already.</p>}
      />
    </GuardedForm>
  )
}
