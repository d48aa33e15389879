import type { DomainImport } from '../../../features/domains/import-shapes'
import { FileButton } from '../../parts/files'
import { CheckboxField, TextareaField, useForm } from '../../parts/form'
import { ListCard } from '../../parts/list-card'
import { openDialog, openForm } from '../../parts/open-dialog'
import { pluralize } from '../../parts/plural'
import { invalidates } from './domain-fields'

/** Opens the form that imports domains, and then shows the result. */
export const importDomains = (): void =>
  openForm<DomainImport>({
    title: 'Import domains',
    wide: true,
    initial: { text: '', dry_run: false, atomic: false },
    call: values => {
      const text = String(values.text)
      return {
        method: 'POST',
        path: '/domains/import',
        query: { ...(values.dry_run === true && { dry_run: 'true' }), ...(values.atomic === true && { mode: 'atomic' }) },
        body: text,
        contentType: isCsv(text) ? 'text/csv' : 'text/plain',
      }
    },
    send: { invalidates, onSuccess: showResult },
    fields: (
      <>
        <TextareaField
          name="text"
          label="Domains"
          mono
          rows={12}
          placeholder={'example.com\nwww.example.org'}
          hint="A name, host, or URL on each line, or CSV with a header: name, expires_at, registrar, auto_renew, tags, notes. At most 10,000."
        />
        <ChooseFile />
        <CheckboxField name="dry_run" label="Dry run" hint="Only show what would happen." />
        <CheckboxField name="atomic" label="All or nothing" hint="Import nothing if a line is invalid." />
      </>
    ),
  })

const isCsv = (text: string): boolean => /^\uFEFF?"?[a-z_ ]+"?[,;\t]|^\uFEFF?"?name"?\s*$/im.test(text.split(/\r?\n/, 1)[0]!)

function ChooseFile() {
  const { set } = useForm()
  return (
    <div>
      <FileButton accept=".csv,.txt" onText={text => set({ text })} />
    </div>
  )
}

const showResult = ({ created, existing, invalid, lines }: DomainImport): void =>
  openDialog({
    title: 'Imported domains',
    wide: true,
    content: (
      <div className="flex flex-col gap-4">
        <p>
          {pluralize(created, 'domain', 'domains')} added, {existing} existed already,{' '}
          {pluralize(invalid, 'line is', 'lines are')} invalid.
        </p>
        {invalid > 0 && (
          <ListCard
            title="Invalid lines"
            rows={lines.filter(one => one.outcome === 'invalid').slice(0, maxShown)}
            keyOf={one => String(one.line)}
            empty=""
          >
            {one => (
              <span className="wrap-anywhere">
                <span className="text-muted">Line {one.line}: </span>
                <code>{one.input}</code> {one.detail}
              </span>
            )}
          </ListCard>
        )}
      </div>
    ),
  })

const maxShown = 300
