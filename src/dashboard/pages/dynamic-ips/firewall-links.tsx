import { CirclePlay, Pencil, Trash2 } from 'lucide-react'
import type { DynamicIpView } from '../../../features/dynamic-ips/shapes'
import type { FirewallView } from '../../../features/servers/firewalls/shapes'
import type { FirewallLinkView } from '../../../features/dynamic-ips/link-shapes'
import type { Page } from '../../client'
import { Button } from '../../parts/button'
import { Mono } from '../../parts/code'
import { DurationField } from '../../parts/duration-field'
import { CheckboxesField, Columns, SelectField, useForm, type Values } from '../../parts/form'
import { ListCard } from '../../parts/list-card'
import { Menu } from '../../parts/menu'
import { confirmDelete, openForm } from '../../parts/open-dialog'
import { ResourceLink } from '../../parts/resource'
import { useResourceNames } from '../../parts/resource-search'
import { Status } from '../../parts/status'
import { RelativeTime } from '../../parts/time'
import { changedFields, valuesFor } from '../../parts/values'
import { useList, useOne, useSend } from '../../queries'
import { usePerson } from '../../session'
import { familyLabels } from './source-text'

const defaults = { families: ['ipv4', 'ipv6'], ipv6: 'address', grace_seconds: 120, on_stale: 'keep' }
const invalidates = ['/dynamic-ips', '/firewalls']

/** The firewall rules that follow the address of a source. */
export function FirewallLinks({ source }: { source: DynamicIpView }) {
  const { canWrite } = usePerson()
  const path = `/dynamic-ips/${source.id}/firewall-links`
  const links = useOne<Page<FirewallLinkView>>(path).data?.data ?? source.firewall_links
  const names = useResourceNames(source.firewall_links.map(one => one.firewall_id))
  return (
    <ListCard
      title="Firewall rules"
      rows={links}
      empty="Link a firewall rule to let it allow the current address of this source."
      rowClass="flex items-start gap-3"
      actions={
        canWrite && (
          <Button small onClick={() => addLink(path)}>
            Link firewall rule
          </Button>
        )
      }
    >
      {link => (
        <>
          <div className="flex min-w-0 grow flex-col gap-1">
            <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <ResourceLink id={link.firewall_id} type="firewall" name={names.get(link.firewall_id) ?? null} />
              <Mono>{link.rule_id}</Mono>
              <Status status={link.status} />
            </p>
            {link.reason && <p className="text-[13px] text-bad">{link.reason.detail}</p>}
            <p className="text-[13px] text-muted">
              {link.applied.length > 0 ? (
                <>
                  Allows <Mono>{link.applied.join(', ')}</Mono>
                </>
              ) : (
                'Allows nothing yet.'
              )}
            </p>
            {link.pending_removal.map(one => (
              <p key={one.cidr} className="text-[13px] text-muted">
                <Mono>{one.cidr}</Mono> is removed <RelativeTime at={one.at} past="now" />
              </p>
            ))}
          </div>
          {canWrite && <LinkMenu link={link} source={source} />}
        </>
      )}
    </ListCard>
  )
}

function LinkMenu({ link, source }: { link: FirewallLinkView; source: DynamicIpView }) {
  const path = `/dynamic-ips/${source.id}/firewall-links/${link.id}`
  const resume = useSend({ toast: 'Firewall rule resumed', invalidates })
  const edit = () => {
    const before = valuesFor(defaults, link)
    openForm({
      title: 'Edit firewall link',
      submitLabel: 'Save changes',
      initial: before,
      call: values => ({ method: 'PATCH', path, body: changedFields(before, values) }),
      send: { toast: 'Changes saved', invalidates },
      fields: <LinkFields />,
    })
  }
  const remove = () =>
    confirmDelete({
      noun: 'firewall link',
      path,
      invalidates,
      text: 'This removes the addresses that the link added to the rule.',
    })
  const isStopped = link.status === 'paused' || link.status === 'failed'
  return (
    <Menu
      label={`Actions for ${link.rule_id}`}
      items={[
        isStopped
          ? { label: 'Resume', icon: CirclePlay, onSelect: () => resume.mutate({ method: 'POST', path: `${path}/resume` }) }
          : null,
        { label: 'Edit', icon: Pencil, onSelect: edit },
        { label: 'Delete', icon: Trash2, danger: true, onSelect: remove },
      ]}
    />
  )
}

const addLink = (list: string) =>
  openForm({
    title: 'Link firewall rule',
    description:
      'Adds the current address of this dynamic IP source to the allowed addresses of an inbound rule, and updates it when it changes.',
    initial: { firewall_id: '', rule_id: '', ...defaults },
    call: values => ({ method: 'POST', path: list, body: linkBody(values) }),
    send: { toast: 'Firewall rule linked', invalidates },
    fields: (
      <>
        <RuleFields />
        <LinkFields />
      </>
    ),
  })

/** Picks an inbound rule of a firewall. */
function RuleFields() {
  const { values } = useForm()
  const firewalls = useList<FirewallView>('/firewalls', { sort: 'name' }).rows
  const rules = firewalls.find(one => one.id === values.firewall_id)?.rules.filter(one => one.direction === 'in') ?? []
  return (
    <Columns>
      <SelectField
        name="firewall_id"
        label="Firewall"
        choices={[['', ''], ...firewalls.map(one => [one.id, one.name] as const)]}
      />
      <SelectField
        name="rule_id"
        label="Rule"
        choices={[['', ''], ...rules.map(one => [one.id, one.description ? `${one.id}: ${one.description}` : one.id] as const)]}
      />
    </Columns>
  )
}

const linkBody = ({ firewall_id, rule_id, ...rest }: Values): Values => ({
  firewall_id,
  rule_id,
  ...changedFields(defaults, rest),
})

const LinkFields = () => (
  <>
    <CheckboxesField name="families" label="IP versions" choices={familyLabels} />
    <Columns>
      <SelectField
        name="ipv6"
        label="IPv6"
        choices={{ address: 'Only the reported address', prefix: 'The whole reported prefix' }}
      />
      <SelectField
        name="on_stale"
        label="While the source is stale"
        choices={{ keep: 'Keep the addresses', remove: 'Remove the addresses' }}
      />
    </Columns>
    <DurationField name="grace_seconds" label="Grace period" hint="How long an old address stays allowed after a change." />
  </>
)
