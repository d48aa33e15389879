import type { CertificateSettingsView } from '../../../features/coverage/shapes'
import { Button } from '../../parts/button'
import { CheckboxField, ListField, SecretField, SelectField, TextField, useForm } from '../../parts/form'
import { openForm } from '../../parts/open-dialog'
import { RelativeTime } from '../../parts/time'
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

const editSettings = ({ coverage, ignore, ports, ct }: CertificateSettingsView): void =>
  openForm({
    title: 'Certificate settings',
    description: 'Which names of the workspace should have a certificate, and where certificates for them are searched for.',
    submitLabel: 'Save changes',
    initial: {
      coverage,
      ignore,
      ports: ports.map(String),
      'ct.kind': ct.kind,
      'ct.url': ct.url ?? '',
      'ct.token': '',
      removesToken: false,
    },
    call: values => ({
      method: 'PATCH',
      path,
      body: {
        ...{ coverage: values.coverage, ignore: values.ignore, ports: (values.ports as string[]).map(Number) },
        ct: {
          kind: values['ct.kind'],
          url: values['ct.url'] || null,
          ...(values['ct.kind'] === 'certspotter' && values['ct.token'] !== '' && { token: values['ct.token'] }),
          ...(values.removesToken === true && { token: null }),
        },
      },
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
        <CtFields ct={ct} />
      </>
    ),
  })

/** Where certificates are searched for in Certificate Transparency logs. */
function CtFields({ ct }: { ct: CertificateSettingsView['ct'] }) {
  const { values } = useForm()
  const kind = values['ct.kind']
  const state =
    ct.kind === 'off' || kind !== ct.kind ? undefined : ct.last_error !== null ? (
      <>The last search failed: {ct.last_error}</>
    ) : ct.last_checked_at !== null ? (
      <>
        Searched <RelativeTime at={ct.last_checked_at} />.
      </>
    ) : (
      'The first search has not finished yet.'
    )
  return (
    <>
      <SelectField
        name="ct.kind"
        label="Certificate Transparency"
        hint={
          state ?? 'Finds certificates that others requested for names in your zones. The service learns which zones you have.'
        }
        choices={[
          ['off', 'Off'],
          ['certspotter', 'Search with Cert Spotter every hour'],
          ['crtsh', 'Search with crt.sh every hour'],
        ]}
      />
      {kind !== 'off' && (
        <TextField
          name="ct.url"
          label="API address"
          type="url"
          hint="Only if you use a proxy. Leave it empty for the public API."
        />
      )}
      {kind === 'certspotter' && (
        <SecretField
          name="ct.token"
          label="API key"
          autoComplete="off"
          hint={
            ct.token_set ? 'Leave it empty to keep the stored key.' : 'Optional. Without one, Cert Spotter allows fewer requests.'
          }
        />
      )}
      {ct.token_set && <CheckboxField name="removesToken" label="Remove the stored API key" />}
    </>
  )
}
