import { CalendarDays } from 'lucide-react'
import type { CalendarFeedView } from '../../features/calendar/shapes'
import { Code } from '../parts/code'
import { CheckboxesField, ListField, TextField } from '../parts/form'
import { ListPage, menuColumn, type TableColumns } from '../parts/list'
import { confirm, confirmDelete, openDialog, openForm } from '../parts/open-dialog'
import { Tags } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'

const invalidates = ['/calendar-feeds']

const contents: Record<CalendarFeedView['include'][number], string> = {
  domains: 'Domains',
  certificates: 'Certificates',
  maintenance: 'Maintenance',
}

/** Lists and manages the calendar feeds of the workspace. */
export default function CalendarFeeds() {
  const { canWrite } = usePerson()
  const columns: TableColumns<CalendarFeedView> = [
    { title: 'Name', sort: 'name', look: 'strong', render: one => one.name },
    { title: 'Contents', onPhone: 'line', render: one => one.include.map(content => contents[content]).join(', ') },
    { title: 'Tags', width: '12rem', showFrom: 'md', render: one => one.tags.length > 0 && <Tags tags={one.tags} /> },
    { title: 'Last used', width: '8rem', render: one => <RelativeTime at={one.last_used_at} fallback="never" /> },
    canWrite &&
      menuColumn<CalendarFeedView>(
        one => one.name,
        one => [
          { label: 'Edit feed', onSelect: () => editFeed(one) },
          { label: 'Rotate URL', onSelect: () => rotateUrl(one) },
          '-',
          {
            label: 'Delete feed',
            danger: true,
            onSelect: () =>
              confirmDelete({
                noun: 'feed',
                name: one.name,
                path: `/calendar-feeds/${one.id}`,
                invalidates,
                text: 'Calendar programs that subscribe to it no longer get updates.',
              }),
          },
        ],
      ),
  ]
  return (
    <ListPage
      label="Calendar feeds"
      description="Secret URLs that calendar programs subscribe to, with the days on which domains and certificates expire, and planned maintenance."
      path="/calendar-feeds"
      columns={columns}
      sort="name"
      search
      details={one => ({ title: one.name, content: <Url feed={one} /> })}
      create={canWrite && { label: 'Create feed', onClick: createFeed }}
      empty={{
        icon: CalendarDays,
        text: 'See in your own calendar when domains and certificates expire, and when maintenance is planned.',
      }}
    />
  )
}

const Url = ({ feed: { url } }: { feed: CalendarFeedView }) =>
  url === null ? (
    <p className="text-muted">To see the URL, you need write access, and access to everything that the feed includes.</p>
  ) : (
    <div className="flex flex-col gap-2">
      <Code label="URL" text={url} wrap />
      <p className="text-[13px] text-muted">
        Add it to your calendar program as a subscription. Anyone who has the URL can read the feed.
      </p>
    </div>
  )

const showUrl = (feed: CalendarFeedView) => openDialog({ title: feed.name, content: <Url feed={feed} /> })

const createFeed = () =>
  openForm<CalendarFeedView>({
    title: 'Create feed',
    initial: { name: '', include: Object.keys(contents), tags: [] },
    call: values => ({ method: 'POST', path: '/calendar-feeds', body: values }),
    send: { toast: 'Feed created', invalidates, onSuccess: showUrl },
    fields: <Fields />,
  })

const editFeed = ({ id, name, include, tags }: CalendarFeedView) =>
  openForm<CalendarFeedView>({
    title: 'Edit feed',
    submitLabel: 'Save changes',
    initial: { name, include, tags },
    call: values => ({ method: 'PATCH', path: `/calendar-feeds/${id}`, body: values }),
    send: { toast: 'Feed saved', invalidates },
    fields: <Fields />,
  })

const rotateUrl = ({ id, name }: CalendarFeedView) =>
  confirm<CalendarFeedView>({
    title: `Rotate the URL of ${name}?`,
    text: 'The current URL stops working immediately. Calendar programs have to subscribe to the new one.',
    action: 'Rotate URL',
    call: { method: 'POST', path: `/calendar-feeds/${id}/rotate` },
    send: { toast: 'URL rotated', invalidates, onSuccess: showUrl },
  })

const Fields = () => (
  <>
    <TextField name="name" label="Name" placeholder="e.g. Operations" autoFocus />
    <CheckboxesField name="include" label="Contents" choices={contents} />
    <ListField name="tags" label="Tags" hint="Only what has one of these tags. Leave empty to include everything." />
  </>
)
