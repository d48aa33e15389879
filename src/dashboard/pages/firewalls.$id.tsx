import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { ActionView } from '../../features/actions/shapes'
import type { FirewallView } from '../../features/servers/firewalls/shapes'
import { Button } from '../parts/button'
import { CopyableText } from '../parts/code'
import { ListCard } from '../parts/list-card'
import { closeDialog, confirmDelete, openDialog } from '../parts/open-dialog'
import { Card, Loaded, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { SendButton } from '../parts/send-button'
import { Status } from '../parts/status'
import { RelativeTime, useNow } from '../parts/time'
import { changedFields } from '../parts/values'
import { usePerson } from '../session'
import { FollowedAction } from './actions/followed-action'
import { useCloudKinds } from './cloud/accounts'
import { FirewallHistory } from './cloud/firewall-history'
import { FirewallRules } from './cloud/firewall-rules'
import { FirewallServers } from './cloud/firewall-servers'
import { ResourceMetrics } from './cloud/server-metrics'
import { driftPolicies, firewallBody, firewallValues, invalidates, stateTitles, toneOfFirewall } from './cloud/firewall-text'
import { GuardedForm } from './cloud/guarded-form'
import { labelsFact } from './cloud/labels-fact'
import { FirewallFields } from './firewalls'

/** A firewall: its rules, the servers that have it, and its history. */
export default resourcePage<FirewallView>(
  { path: '/firewalls', parent: '/firewalls', refetchMs: one => one.action_id !== null && 1500 },
  LoadedFirewall,
)

/** The page once everything is loaded that determines its layout. */
function LoadedFirewall({ resource }: { resource: FirewallView }) {
  return (
    <Loaded query={useCloudKinds()} parent="/firewalls">
      {() => <FirewallPage resource={resource} />}
    </Loaded>
  )
}

function FirewallPage({ resource: firewall }: { resource: FirewallView }) {
  const { canWrite } = usePerson()
  const path = `/firewalls/${firewall.id}`
  // The last action stays visible after it has finished, so that its result is seen.
  const [followed, setFollowed] = useState(firewall.action_id)
  useEffect(() => {
    if (firewall.action_id !== null) setFollowed(firewall.action_id)
  }, [firewall.action_id])
  const onStart = (action: ActionView) => setFollowed(action.id)
  return (
    <Page
      title={firewall.name}
      parent="/firewalls"
      description={firewall.description}
      aside={
        firewall.attached.length > 0 && (
          <Status status={firewall.state} label={stateTitles[firewall.state]} tone={toneOfFirewall(firewall.state)} />
        )
      }
      actions={canWrite && <FirewallActions firewall={firewall} onStart={onStart} />}
    >
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-4">
          {firewall.pending && <PendingChange path={path} pending={firewall.pending} />}
          <FirewallRules firewall={firewall} onStart={onStart} />
          <FirewallServers firewall={firewall} onStart={onStart} />
          <ResourceMetrics
            path={`/firewalls/${firewall.id}/metrics`}
            name={firewall.name}
            empty="No metrics yet. Only servers whose agent enforces the firewall count packets; clouds don’t report any."
          />
          {firewall.refused.length > 0 && <RefusedServers firewall={firewall} />}
          <FirewallHistory firewall={firewall} />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          {followed !== null && <FollowedAction key={followed} id={followed} />}
          <Card
            title="Details"
            facts={[
              ['Rules version', String(firewall.rules_version)],
              ['Drift policy', driftPolicies[firewall.drift_policy]],
              ['Label selector', firewall.label_selector],
              labelsFact(firewall.labels),
              ['Created', <RelativeTime at={firewall.created_at} />],
              ['ID', <CopyableText text={firewall.id} />],
            ]}
          />
        </div>
      </div>
    </Page>
  )
}

function FirewallActions({ firewall, onStart }: { firewall: FirewallView; onStart(action: ActionView): void }) {
  const path = `/firewalls/${firewall.id}`
  const before = firewallValues(firewall)
  const edit = () =>
    openDialog({
      title: 'Edit firewall',
      content: (
        <GuardedForm<FirewallView>
          initial={before}
          callFor={values => ({
            method: 'PATCH',
            path,
            ifMatch: firewall.version,
            body: firewallBody(changedFields(before, values)),
          })}
          submitLabel="Save changes"
          overrideLabel="Override and save"
          title="Changes saved"
          onCancel={closeDialog}
          onStart={closeDialog}
        >
          <FirewallFields />
        </GuardedForm>
      ),
    })
  const revert = () =>
    openDialog({
      title: 'Restore the previous rules?',
      description: 'The rules of the version before are applied to all servers.',
      content: (
        <GuardedForm
          initial={{}}
          callFor={() => ({ method: 'POST', path: `${path}/revert`, body: {} })}
          submitLabel="Restore rules"
          overrideLabel="Override and restore"
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
  const remove = () =>
    confirmDelete({
      noun: 'firewall',
      name: firewall.name,
      path,
      invalidates,
      next: '/firewalls',
      text: 'Its rules and their history are deleted. This can’t be undone.',
    })
  return (
    <>
      {firewall.rules_version > 1 && (
        <Button disabled={firewall.action_id !== null} onClick={revert}>
          Restore previous rules
        </Button>
      )}
      <Button onClick={edit}>Edit</Button>
      <Button
        kind="danger"
        disabled={firewall.attached.length > 0}
        title={firewall.attached.length > 0 ? 'Detach its servers first.' : undefined}
        onClick={remove}
      >
        Delete
      </Button>
    </>
  )
}

/** Servers that the label selector selects, but that can’t have the firewall. */
const RefusedServers = ({ firewall: { refused } }: { firewall: FirewallView }) => (
  <ListCard title="Selected servers without the firewall" rows={refused} keyOf={one => one.server_id} empty="None.">
    {one => (
      <Link to="/servers/$id" params={{ id: one.server_id }} className="text-bad wrap-anywhere hover:underline">
        {one.reason}
      </Link>
    )}
  </ListCard>
)

interface PendingChangeProps {
  path: string
  pending: NonNullable<FirewallView['pending']>
}

/** A change that is reverted unless it is confirmed, with the time that is left. */
function PendingChange({ path, pending }: PendingChangeProps) {
  const { canWrite } = usePerson()
  const now = useNow()
  const left = pending.expires_at === null ? null : Math.max(0, Math.ceil((Date.parse(pending.expires_at) - now) / 1000))
  return (
    <section aria-label="Confirmation" className="rounded-lg border border-line bg-warn-soft p-4 text-warn">
      <p className="font-medium" role="timer">
        {left === null
          ? 'The new rules are being applied.'
          : `The previous rules are restored in ${left} s, unless you confirm the change.`}
      </p>
      <p className="mt-1 text-[13px]">
        Check that you can still reach your servers before you keep the new rules.
        {pending.confirm === 'auto' && ' The change is also confirmed if all monitors of the servers stay up.'}
      </p>
      {canWrite && (
        <div className="mt-3 flex flex-wrap gap-2">
          <SendButton
            kind="primary"
            disabled={left === null}
            call={{ method: 'POST', path: `${path}/confirm` }}
            send={{ toast: 'Change confirmed', invalidates }}
          >
            Keep changes
          </SendButton>
          <SendButton
            call={{ method: 'POST', path: `${path}/revert`, body: {} }}
            send={{ toast: 'Restoring the previous rules', invalidates }}
          >
            Undo now
          </SendButton>
        </div>
      )}
    </section>
  )
}
