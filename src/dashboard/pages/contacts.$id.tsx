import { CircleCheck, Pencil, Trash2 } from 'lucide-react'
import type { ContactRequirementsView, ContactView } from '../../features/contacts/shapes'
import { LinkButton } from '../parts/button'
import { CopyableText } from '../parts/code'
import { UrlFilter, UrlSearch } from '../parts/filters'
import { labelOf } from '../parts/labels'
import { Menu } from '../parts/menu'
import { confirmDelete } from '../parts/open-dialog'
import { schemasOf } from '../parts/option-fields'
import { Card, Page } from '../parts/page'
import { Problem } from '../parts/problem'
import { resourcePage } from '../parts/resource-page'
import { Tags } from '../parts/status'
import { TextWithCode } from '../parts/text-with-code'
import { RelativeTime } from '../parts/time'
import { useUrlState } from '../parts/url-state'
import { useOne } from '../queries'
import { usePerson } from '../session'
import { useContactOptions } from './contacts/contact-fields'
import { contactPaths, contactTypes, countryName, registrarNames } from './contacts/contact-text'

/** The page of a contact: its data, and what it lacks for a top-level domain. */
export default resourcePage<ContactView>({ path: '/contacts', parent: '/contacts' }, Details)

type Schemas = ReturnType<typeof schemasOf>

/** The label of the field that a pointer refers to. */
function titleOf(pointer: string, schemas: Schemas): string {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1)
  return schemas[name]?.title ?? labelOf(name)
}

function Details({ resource: contact }: { resource: ContactView }) {
  const { canWrite } = usePerson()
  const schemas = schemasOf(useContactOptions().data?.fields ?? {})
  const remove = () =>
    confirmDelete({
      noun: 'contact',
      name: contact.label,
      path: `/contacts/${contact.id}`,
      invalidates: contactPaths,
      next: '/contacts',
      text: 'Its personal data is deleted. This can’t be undone.',
    })
  return (
    <Page
      title={contact.label}
      parent="/contacts"
      actions={
        canWrite && (
          <>
            <LinkButton to="/contacts/$id/edit" params={{ id: contact.id }} icon={Pencil}>
              Edit
            </LinkButton>
            <Menu label="More actions" items={[{ label: 'Delete', icon: Trash2, danger: true, onSelect: remove }]} />
          </>
        )
      }
    >
      <div className="grid gap-4 lg:grid-cols-2 lg:items-start">
        <Card
          title="Contact"
          facts={[
            ['Type', contactTypes[contact.type]],
            ['Organization', contact.organization],
            ['Name', `${contact.first_name} ${contact.last_name}`],
            ['Email', <CopyableText key="" text={contact.email} label="email" />],
            ['Phone', <CopyableText key="" text={contact.phone} label="phone number" />],
            ['Address', <Address key="" contact={contact} />],
            ...Object.entries(contact.fields).map(([name, value]) => [schemas[name]?.title ?? name, value] as const),
            ['Used by', contact.used_by > 0 && `${contact.used_by} domains`],
            ['Tags', contact.tags.length > 0 && <Tags key="" tags={contact.tags} />],
            ['Updated', <RelativeTime key="" at={contact.updated_at} />],
            ['ID', <CopyableText key="" text={contact.id} />],
          ]}
        />
        <Requirements contact={contact} schemas={schemas} />
      </div>
    </Page>
  )
}

const Address = ({ contact: { address, postal_code, city, state, country } }: { contact: ContactView }) => (
  <>
    {[...address, [postal_code, city, state].filter(part => part !== '').join(' '), countryName(country)].map((line, at) => (
      <div key={at}>{line}</div>
    ))}
  </>
)

/** What the contact lacks for a top-level domain and a registrar, both in the URL. */
function Requirements({ contact, schemas }: { contact: ContactView; schemas: Schemas }) {
  const [{ tld, registrar }] = useUrlState({ tld: '', registrar: 'epp' })
  const kinds = useContactOptions().data?.registrar_kinds ?? []
  const wanted = tld.trim().toLowerCase()
  const path = wanted === '' ? null : `/contacts/${contact.id}/requirements`
  const found = useOne<ContactRequirementsView>(path, { tld: wanted, registrar_kind: registrar }, { keepPrevious: true })
  return (
    <Card title="Check against a top-level domain">
      <div className="mb-3 flex flex-wrap gap-2">
        <UrlSearch name="tld" label="Top-level domain" />
        <UrlFilter
          name="registrar"
          label="Registrar"
          initial="epp"
          choices={Object.fromEntries(kinds.map(kind => [kind, registrarNames[kind] ?? kind]))}
        />
      </div>
      <div aria-live="polite" className="min-h-12">
        {path === null ? (
          <p className="text-muted">
            Some registries and registrars require more than an address. Enter a top-level domain, such as fr or co.uk.
          </p>
        ) : found.error ? (
          <Problem error={found.error} />
        ) : (
          found.data && <Missing of={found.data} schemas={schemas} />
        )}
      </div>
    </Card>
  )
}

const Missing = ({ of: { tld, complete, missing, sources }, schemas }: { of: ContactRequirementsView; schemas: Schemas }) => (
  <>
    {complete ? (
      <p className="flex items-center gap-2">
        <CircleCheck aria-hidden className="size-4 text-ok" /> Nothing known is missing{tld !== null && ` for .${tld} domains`}.
      </p>
    ) : (
      <ul className="list-disc pl-5">
        {missing.map(({ pointer, detail }) => (
          <li key={pointer}>
            <TextWithCode text={`${titleOf(pointer, schemas)} ${detail}`} />
          </li>
        ))}
      </ul>
    )}
    {sources.length > 0 && (
      <p className="mt-2 text-[13px] text-muted wrap-anywhere">
        According to{' '}
        {sources.map((source, at) => (
          <span key={source}>
            {at > 0 && ' and '}
            <a className="underline" href={source} target="_blank" rel="noreferrer">
              {new URL(source).host}
            </a>
          </span>
        ))}
        .
      </p>
    )}
  </>
)
