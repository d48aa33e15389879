import { useState } from 'react'
import type { ZoneImportResult } from '../../../features/dns/exchange/shapes'
import type { ZoneView } from '../../../features/dns/zones/shapes'
import type { Call } from '../../client'
import { Advanced } from '../../parts/advanced'
import { Form, SelectField, TextField, useForm, type Values } from '../../parts/form'
import { closeDialog, openDialog } from '../../parts/open-dialog'
import { useOne, useSend } from '../../queries'
import { ImportPreview } from './import-preview'
import { emptyServer, fromServer, KeyFields, ServerFields } from './server-fields'
import { useZoneChange } from './zone-change'

/** Imports a zone from another name server or a provider, after showing a preview. */
export const importZoneFrom = (zone: ZoneView): void =>
  openDialog({
    title: 'Import from another server',
    description: 'Reads the zone from a name server or a DNS provider. Review the changes before you import them.',
    wide: true,
    content: <ImportFrom zone={zone} />,
  })

function ImportFrom({ zone }: { zone: ZoneView }) {
  const [body, setBody] = useState<Values | null>(null)
  const preview = useSend<ZoneImportResult>({ quiet: true })
  const { change } = useZoneChange(zone)
  const path = `/dns/zones/${zone.id}/import-from`
  const shown = preview.data?.preview
  if (body && shown) {
    const blocked = shown.blocked.length > 0
    const rrsets = body.mode === 'replace' || shown.change_count > shown.changes.length ? null : shown.changes
    return (
      <Form
        initial={{ note: '' }}
        call={({ note }) => ({
          method: 'POST',
          path,
          body: { ...body, note, ...(blocked && { allow: shown.blocked.map(one => one.code) }) },
        })}
        send={call => change({ call, done: 'Zone imported', rrsets }).then(closeDialog)}
        onCancel={preview.reset}
        submitLabel={blocked ? 'Override and import' : 'Import records'}
      >
        <ImportPreview dryRun={preview.data!} />
        <TextField name="note" label={blocked ? 'Reason for the override' : 'Note'} hint="Stored in the history." />
      </Form>
    )
  }
  return (
    <Form
      initial={{ source: 'server', mode: 'merge', provider_id: '', ...emptyServer }}
      call={values => ({ method: 'POST', path, body: { ...sourceOf(values), mode: values.mode, dry_run: true } })}
      send={async (call: Call) => {
        const { dry_run: _, ...rest } = call.body as Values
        setBody(rest)
        await preview.mutateAsync(call)
      }}
      onCancel={closeDialog}
      submitLabel="Preview changes"
    >
      <SourceFields />
      <SelectField
        name="mode"
        label="Import mode"
        choices={{
          merge: 'Merge: replace only the record sets at the server',
          replace: 'Replace the whole zone: delete records that are not at the server',
        }}
      />
    </Form>
  )
}

function SourceFields() {
  const { values } = useForm()
  const { data } = useOne<{ data: { id: string; name: string; kind: string }[] }>('/dns/providers')
  const providers = (data?.data ?? []).filter(one => one.kind !== 'builtin')
  return (
    <>
      <SelectField
        name="source"
        label="Source"
        choices={{ server: 'Zone transfer from a name server', ...(providers.length > 0 && { provider: 'DNS provider' }) }}
      />
      {values.source === 'server' ? (
        <>
          <ServerFields />
          <Advanced>
            <KeyFields />
          </Advanced>
        </>
      ) : (
        <SelectField
          name="provider_id"
          label="Provider"
          choices={[['', 'Choose a provider'], ...providers.map(one => [one.id, one.name] as const)]}
        />
      )}
    </>
  )
}

const sourceOf = (values: Values): Values =>
  values.source === 'server' ? fromServer(values) : { provider_id: values.provider_id }
