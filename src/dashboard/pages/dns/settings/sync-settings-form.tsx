import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { Advanced, Group } from '../../../parts/advanced'
import { TextareaField, CheckboxField, Columns, Form, NumberField, SelectField, type Values } from '../../../parts/form'
import { Card } from '../../../parts/page'
import { capitalize } from '../../../parts/status'
import { usePerson } from '../../../session'

/** Sync settings of a zone: how changes are applied, drift handling and guards. */
export function SyncSettingsForm({ zone }: { zone: ZoneView }) {
  const { canWrite } = usePerson()
  const path = `/dns/zones/${zone.id}`
  if (!canWrite) {
    return (
      <Card
        title="Sync and drift"
        facts={[
          ['Apply changes', zone.apply === 'auto' ? 'Automatically' : 'Manually'],
          ['Drift policy', capitalize(zone.drift_policy)],
          ['Unmanaged records', capitalize(zone.unmanaged)],
        ]}
      />
    )
  }
  return (
    <Card title="Sync and drift">
      <Form
        initial={{ ...policiesOf(zone), ignore_rules: textOfRules(zone.ignore_rules) }}
        defaults={{ update_limit_percent: null, delete_limit_percent: null, ignore_rules: '' }}
        call={values => ({ method: 'PATCH', path, body: bodyOf(values), ifMatch: zone.version })}
        send={{ toast: 'Settings saved', invalidates: [path], undo: () => ({ method: 'PATCH', path, body: policiesOf(zone) }) }}
        submitLabel="Save changes"
      >
        <CheckboxField
          name="served"
          label="Serve with the built-in name server"
          hint="In addition to the sync targets, if any."
        />
        <SelectField
          name="apply"
          label="Apply changes"
          choices={{ auto: 'Automatically: sync each change immediately', manual: 'Manually: wait until you apply a plan' }}
        />
        <SelectField
          name="drift_policy"
          label="Drift policy"
          hint="What to do with changes made at a provider outside Bailiwick."
          choices={{
            report: 'Report: show them as drift until you decide',
            enforce: 'Enforce: revert them at the provider',
            adopt: 'Adopt: copy them into this zone',
          }}
        />
        <SelectField
          name="unmanaged"
          label="Unmanaged records"
          hint="Records that exist only at a provider."
          choices={{ keep: 'Keep', delete: 'Delete at the provider' }}
        />
        <Advanced>
          <Group label="Safety checks and ignore rules">
            <Columns>
              <NumberField
                name="update_limit_percent"
                label="Update limit"
                hint="Plans that update more than this share of the record sets are blocked. Default: 30. 100 disables the check. Zones with fewer than 10 record sets have no limit."
                unit="%"
                min={0}
                max={100}
                placeholder="30"
              />
              <NumberField
                name="delete_limit_percent"
                label="Delete limit"
                hint="Plans that delete more than this share of the record sets are blocked. Default: 30. 100 disables the check. In zones with fewer than 10 record sets, deleting at least half of them, and at least 3, is always blocked."
                unit="%"
                min={0}
                max={100}
                placeholder="30"
              />
            </Columns>
            <TextareaField
              name="ignore_rules"
              label="Ignore rules"
              hint="Unmanaged records that match a rule are not reported or deleted. One rule per line: a name, in which * matches any text, optionally followed by record types."
              rows={3}
              mono
            />
          </Group>
        </Advanced>
      </Form>
    </Card>
  )
}

/** Zone fields that the form edits. */
export const policiesOf = (zone: ZoneView) => ({
  served: zone.served,
  apply: zone.apply,
  drift_policy: zone.drift_policy,
  unmanaged: zone.unmanaged,
  update_limit_percent: zone.update_limit_percent,
  delete_limit_percent: zone.delete_limit_percent,
  ignore_rules: zone.ignore_rules,
})

const textOfRules = (rules: ZoneView['ignore_rules']): string =>
  rules.map(({ name, types }) => [name, ...(types ?? [])].join(' ')).join('\n')

const bodyOf = (values: Values): Values => ({
  ...values,
  ignore_rules: String(values.ignore_rules)
    .split('\n')
    .map(line => line.split(/[\s,]+/).filter(word => word !== ''))
    .filter(words => words.length > 0)
    .map(([name, ...types]) => ({ name, ...(types.length > 0 && { types: types.map(one => one.toUpperCase()) }) })),
})
