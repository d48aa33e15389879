import { useEffect, useState } from 'react'
import type { ActionView } from '../../../features/actions/shapes'
import type { FirewallRulesPreview, FirewallView } from '../../../features/servers/firewalls/shapes'
import { Button } from '../../parts/button'
import { Columns, NumberField, SelectField, TextField, useForm, wordsOf, type Values } from '../../parts/form'
import { Card } from '../../parts/page'
import { RowsField, type RowField } from '../../parts/rows-field'
import { useDryRun } from '../../queries'
import { usePerson } from '../../session'
import { directionTitles, entryText, protocolTitles } from './firewall-text'
import { GuardedForm } from './guarded-form'

type Rule = FirewallView['rules'][number]

interface FirewallRulesProps {
  firewall: FirewallView
  onStart(action: ActionView): void
}

/** The rules of a firewall, and their editor. */
export function FirewallRules({ firewall, onStart }: FirewallRulesProps) {
  const { canWrite } = usePerson()
  const [isEditing, setEditing] = useState(false)
  const isBusy = firewall.action_id !== null
  return (
    <Card
      title="Rules"
      flush={!isEditing}
      actions={
        canWrite &&
        !isEditing && (
          <Button small disabled={isBusy} onClick={() => setEditing(true)}>
            Edit rules
          </Button>
        )
      }
    >
      {isEditing ? (
        <RulesEditor
          firewall={firewall}
          onClose={() => setEditing(false)}
          onStart={action => {
            setEditing(false)
            onStart(action)
          }}
        />
      ) : (
        <RulesTable firewall={firewall} />
      )}
    </Card>
  )
}

/** Rules in words. */
const RulesTable = ({ firewall: { rules, blocks } }: Pick<FirewallRulesProps, 'firewall'>) =>
  rules.length + blocks.length === 0 ? (
    <p className="p-4 text-muted">No rules: all incoming traffic is dropped.</p>
  ) : (
    <ul className="divide-y divide-line">
      {blocks.length > 0 && (
        <li className="flex flex-wrap items-baseline gap-x-4 gap-y-1 px-4 py-2">
          <span className="w-24 shrink-0 font-medium">Blocked</span>
          <span className="min-w-0 grow basis-48 font-mono text-[13px] wrap-anywhere">{blocks.join(', ')}</span>
        </li>
      )}
      {rules.map(one => (
        <li key={one.id} className="flex flex-wrap items-baseline gap-x-4 gap-y-1 px-4 py-2">
          <span className="w-24 shrink-0 font-medium">{directionTitles[one.direction]}</span>
          <span className="w-40 shrink-0">
            {protocolTitles[one.protocol]} {one.ports.join(', ')}
          </span>
          <span className="min-w-0 grow basis-48 font-mono text-[13px] wrap-anywhere">
            {(one.direction === 'in' ? one.sources : one.destinations).join(', ') || 'nowhere'}
          </span>
          {one.description !== '' && <span className="text-[13px] text-muted">{one.description}</span>}
        </li>
      ))}
    </ul>
  )

/** A rule as it is edited. */
interface RuleRow extends Omit<Rule, 'sources' | 'destinations' | 'ports'> {
  ports: string
  networks: string
}

const rowFields: readonly RowField<RuleRow>[] = [
  { name: 'direction', label: 'Direction', width: '7.5rem', choices: Object.entries(directionTitles) },
  { name: 'protocol', label: 'Protocol', width: '6rem', choices: Object.entries(protocolTitles) },
  { name: 'ports', label: 'Ports', width: '9rem' },
  { name: 'networks', label: 'From or to', also: ['sources', 'destinations'] },
  { name: 'description', label: 'Description', width: '12rem' },
]

const newRow: RuleRow = { id: '', direction: 'in', protocol: 'tcp', ports: '', networks: '0.0.0.0/0 ::/0', description: '' }

const rowOf = ({ sources, destinations, ports, ...rule }: Rule): RuleRow => ({
  ...rule,
  ports: ports.join(' '),
  networks: (rule.direction === 'in' ? sources : destinations).join(' '),
})

const bodyOf = (rows: readonly RuleRow[]): Values[] =>
  rows.map(({ id, ports, networks, ...rule }) => ({
    ...(id !== '' && { id }),
    ...rule,
    ports: wordsOf(ports),
    [rule.direction === 'in' ? 'sources' : 'destinations']: wordsOf(networks),
  }))

interface RulesEditorProps extends FirewallRulesProps {
  onClose(): void
}

function RulesEditor({ firewall: current, onClose, onStart }: RulesEditorProps) {
  // The one that was opened: rules that someone else changes meanwhile are not overwritten.
  const [firewall] = useState(current)
  const [preview, setPreview] = useState<FirewallRulesPreview | null>(null)
  const path = `/firewalls/${firewall.id}/rules`
  const isAttached = firewall.attached.length > 0
  return (
    <GuardedForm
      initial={{
        rules: firewall.rules.map(rowOf),
        blocks: firewall.blocks.join(' '),
        confirm: 'manual',
        confirm_within_seconds: isAttached ? '60' : '0',
      }}
      callFor={({ rules, blocks, confirm, confirm_within_seconds: seconds }) => ({
        method: 'PUT',
        path,
        ifMatch: firewall.version,
        body: {
          rules: bodyOf(rules as RuleRow[]),
          blocks: wordsOf(blocks as string),
          confirm,
          confirm_within_seconds: Number(seconds),
        },
      })}
      blocked={preview?.blocked ?? null}
      submitLabel="Apply rules"
      overrideLabel="Override and apply"
      onCancel={onClose}
      onStart={onStart}
    >
      <RowsField<RuleRow>
        name="rules"
        label="Allowed traffic"
        hint="Ports such as 443 or 8000-8010; leave empty to allow all ports. Networks in CIDR notation, or the ID of a dynamic IP source (dip_…, or dip_…/prefix6 for its IPv6 prefix). Outgoing traffic is only restricted if there are rules for it."
        fields={rowFields}
        newRow={newRow}
        addLabel="Add rule"
      />
      <TextField
        name="blocks"
        label="Blocked networks"
        hint="Networks such as 203.0.113.0/24, whose packets are dropped even if a rule allows them. Not available for servers at Hetzner Cloud."
      />
      {isAttached && (
        <Columns>
          <NumberField
            name="confirm_within_seconds"
            label="Restore the previous rules after"
            unit="s"
            hint="Unless you confirm the change on this page. 0: never."
          />
          <SelectField
            name="confirm"
            label="Confirmation"
            choices={{ manual: 'Manual', auto: 'Manual, or automatic if all monitors stay up' }}
          />
        </Columns>
      )}
      <RulesPreview path={path} onPreview={setPreview} />
    </GuardedForm>
  )
}

interface RulesPreviewProps {
  path: string
  onPreview(preview: FirewallRulesPreview | null): void
}

/** What the rules in the form would change. */
function RulesPreview({ path, onPreview }: RulesPreviewProps) {
  const { values, showFound } = useForm()
  const { result, error } = useDryRun<FirewallRulesPreview>({
    method: 'PUT',
    path,
    query: { dry_run: true },
    body: { rules: bodyOf(values.rules as RuleRow[]), blocks: wordsOf(values.blocks as string) },
  })
  const errors = error?.errors ?? []
  useEffect(() => showFound(errors), [JSON.stringify(errors)])
  useEffect(() => onPreview(result), [result])
  const lines = [
    ...(result?.added ?? []).map(one => ({ sign: '+', text: entryText(one), look: 'bg-ok-soft text-ok' })),
    ...(result?.removed ?? []).map(one => ({ sign: '−', text: entryText(one), look: 'bg-bad-soft text-bad' })),
  ]
  return (
    <section aria-label="Changes" aria-live="polite">
      <h3 className="mb-1 font-medium">Changes</h3>
      {lines.length === 0 ? (
        // Keeps its place while they load.
        <p className="text-muted">{result ? 'None yet.' : '\u00a0'}</p>
      ) : (
        <ul className="max-h-72 overflow-y-auto rounded-md border border-line font-mono text-[13px] leading-5">
          {lines.map(({ sign, text, look }) => (
            <li key={sign + text} className={`flex gap-2 px-3 py-0.5 ${look}`}>
              <span aria-label={sign === '+' ? 'Added' : 'Removed'}>{sign}</span>
              <span className="min-w-0 wrap-anywhere">{text}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
