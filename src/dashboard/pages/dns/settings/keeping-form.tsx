import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { AreaField, CheckField, Columns, Form, More, NumberField, SelectField, type Values } from '../../../parts/form'
import { Card, Facts } from '../../../parts/page'
import { wordsOf } from '../../../parts/status'
import { useSend } from '../../../queries'
import { usePerson } from '../../../session'

/** How a zone and its providers are kept alike: who wins, what is left alone, what is held back. */
export function KeepingForm({ zone }: { zone: ZoneView }) {
  const { mayWrite } = usePerson()
  const path = `/dns/zones/${zone.id}`
  const send = useSend({
    quiet: true,
    done: 'Settings saved',
    stale: [path],
    undo: () => ({ method: 'PATCH', path, body: policiesOf(zone) }),
  })
  if (!mayWrite) {
    return (
      <Card title="Changes and drift">
        <Facts
          rows={[
            ['Changes here', zone.apply === 'auto' ? 'are brought there at once' : 'wait for a plan'],
            ['Changes there', wordsOf(zone.drift_policy)],
            ['What is there alone', wordsOf(zone.unmanaged)],
          ]}
        />
      </Card>
    )
  }
  return (
    <Card title="Changes and drift">
      <Form
        initial={{ ...policiesOf(zone), ignore_rules: textOfRules(zone.ignore_rules) }}
        call={values => ({ method: 'PATCH', path, body: bodyOf(values), ifMatch: zone.version })}
        send={send.mutateAsync}
        pending={send.isPending}
        action="Save"
      >
        <CheckField name="served" label="This hub answers for it" hint="Beside the providers, where there are any." />
        <SelectField
          name="apply"
          label="Changes made here"
          choices={[
            ['auto', 'Are brought to the providers at once'],
            ['manual', 'Wait for a plan that somebody applies'],
          ]}
        />
        <SelectField
          name="drift_policy"
          label="Changes that others make at a provider"
          choices={[
            ['report', 'Are told, and stay until somebody decides'],
            ['enforce', 'Are put back'],
            ['adopt', 'Are taken over here'],
          ]}
        />
        <SelectField
          name="unmanaged"
          label="What is at a provider alone"
          choices={[
            ['keep', 'Stays there'],
            ['delete', 'Is removed there'],
          ]}
        />
        <More label="Guards, and what is left alone" names={['update_limit_percent', 'delete_limit_percent', 'ignore_rules']}>
          <Columns>
            <NumberField
              name="update_limit_percent"
              label="Changes without asking"
              hint="Of its names and types, in one plan."
              unit="%"
              min={0}
              max={100}
              placeholder="30"
            />
            <NumberField
              name="delete_limit_percent"
              label="Removals without asking"
              hint="Of its names and types, in one plan."
              unit="%"
              min={0}
              max={100}
              placeholder="30"
            />
          </Columns>
          <AreaField
            name="ignore_rules"
            label="Names left alone"
            hint="One a line: a name, where * stands for any text, and types after it if it is about some alone. Empty leaves nothing alone."
            rows={3}
            mono
          />
        </More>
      </Form>
    </Card>
  )
}

/** The members of a zone that the form is about. */
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
