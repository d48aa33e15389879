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
  const shown = body && preview.data?.preview
  const codes = shown?.blocked.map(one => one.code) ?? []
  const isBlocked = codes.length > 0
  return (
    <Form
      initial={{ source: 'server', mode: 'merge', provider_id: '', note: '', ...emptyServer }}
      call={values => ({
        method: 'POST',
        path: `/dns/zones/${zone.id}/import-from`,
        body: shown
          ? { ...body, note: values.note, ...(isBlocked && { allow: codes }) }
          : { ...sourceOf(values), mode: values.mode, dry_run: true },
      })}
      send={async (call: Call) => {
        if (shown) {
          const rrsets = body.mode === 'replace' || shown.change_count > shown.changes.length ? null : shown.changes
          await change({ call, done: 'Zone imported', rrsets })
          return closeDialog()
        }
        const { dry_run: _, ...rest } = call.body as Values
        setBody(rest)
        await preview.mutateAsync(call)
      }}
      onCancel={shown ? preview.reset : closeDialog}
      submitLabel={shown ? (isBlocked ? 'Override and import' : 'Import records') : 'Preview changes'}
    >
      {shown ? (
        <>
          <ImportPreview dryRun={preview.data!} />
          <TextField name="note" label={isBlocked ? 'Reason for the override' : 'Note'} hint="Stored in the history." />
        </>
      ) : (
        <>
          <SourceFields />
          <SelectField
            name="mode"
            label="Import mode"
            choices={{
              merge: 'Merge: replace only record sets that the server also has',
              replace: 'Replace the whole zone: delete records that the server doesn’t have',
            }}
          />
        </>
      )}
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
