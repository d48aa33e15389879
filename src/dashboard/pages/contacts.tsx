import { ContactRound } from 'lucide-react'
import type { ContactView } from '../../features/contacts/shapes'
import { BulkDelete } from '../parts/bulk'
import { ListPage, type Column } from '../parts/list'
import { tagsColumn } from '../parts/table'
import { RelativeTime } from '../parts/time'
import { useUrlState } from '../parts/url-state'
import { usePerson } from '../session'
import { contactPaths, contactTypes, countryName, personName } from './contacts/contact-text'

const selection = { path: '/contacts/bulk', nouns: ['contact', 'contacts'], invalidates: contactPaths } as const

/** The list of contacts. */
export default function Contacts() {
  const { canWrite } = usePerson()
  const [, set] = useUrlState({ tag: '' })
  const columns: readonly Column<ContactView>[] = [
    { title: 'Label', sort: 'label', look: 'strong', width: 'clamp(9rem, 18cqw, 24rem)', render: one => one.label },
    { title: 'Name', onPhone: 'line', render: personName },
    { title: 'Type', width: '9rem', showFrom: 'md', onPhone: 'plain', render: one => contactTypes[one.type] },
    { title: 'Email', width: 'clamp(10rem, 22cqw, 22rem)', showFrom: 'lg', onPhone: 'line', render: one => one.email },
    { title: 'Country', width: '10rem', showFrom: 'xl', render: one => countryName(one.country) },
    tagsColumn(
      one => one.tags,
      tag => set({ tag }),
    ),
    { title: 'Updated', sort: 'updated_at', width: '8rem', showFrom: 'lg', render: one => <RelativeTime at={one.updated_at} /> },
  ]
  return (
    <ListPage
      label="Contacts"
      description="People and organizations that domains are registered to. Their personal data is stored encrypted."
      path="/contacts"
      page="/contacts/$id"
      create="/contacts/new"
      columns={columns}
      sort="label"
      search={{ label: 'Search labels', name: 'q' }}
      counted
      filters={[{ name: 'tag', label: 'Tag' }]}
      bulk={
        canWrite
          ? (rows, onSuccess) => (
              <BulkDelete
                of={{ ...selection, rows: rows.map(one => ({ ...one, name: one.label })), onSuccess }}
                text="Their personal data is deleted. This can’t be undone."
              />
            )
          : undefined
      }
      empty={{
        icon: ContactRound,
        text: 'Create a contact once, and use it for all domains that you register.',
      }}
    />
  )
}
