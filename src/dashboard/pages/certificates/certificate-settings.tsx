import type { CertificateSettingsView } from '../../../features/coverage/shapes'
import { Button } from '../../parts/button'
import { ListField, SelectField } from '../../parts/form'
import { openForm } from '../../parts/open-dialog'
import { useOne } from '../../queries'
import { gapInvalidates } from './gap-text'

const path = '/certificate-settings'

/** The button that changes which names should have a certificate. */
export function SettingsButton() {
  const settings = useOne<CertificateSettingsView>(path).data
  return (
    <Button disabled={!settings} onClick={() => settings && editSettings(settings)}>
      Settings
    </Button>
  )
}

const editSettings = ({ coverage, ignore, ports }: CertificateSettingsView): void =>
  openForm({
    title: 'Certificate settings',
    description: 'Which names of the workspace should have a certificate.',
    submitLabel: 'Save changes',
    initial: { coverage, ignore, ports: ports.map(String) },
    call: values => ({
      method: 'PATCH',
      path,
      body: { coverage: values.coverage, ignore: values.ignore, ports: (values.ports as string[]).map(Number) },
    }),
    send: { toast: 'Settings saved', invalidates: [path, ...gapInvalidates] },
    fields: (
      <>
        <SelectField
          name="coverage"
          label="Names"
          choices={[
            ['all', 'Names of zones, monitors, and agents'],
            ['watched', 'Names of monitors and agents'],
            ['off', 'None'],
          ]}
        />
        <ListField
          name="ignore"
          label="Ignored names"
          placeholder="e.g. *.internal.example.com"
          hint="Names that need no certificate. * stands for any text."
        />
        <ListField name="ports" label="Ports" placeholder="443" hint="Where the names of records are expected to serve TLS." />
      </>
    ),
  })
