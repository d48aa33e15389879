import type { EventKindView } from '../../features/webhooks/endpoints/shapes'
import { labelOf } from '../pages'
import { Json } from '../parts/json'
import { openDialog } from '../parts/open-dialog'
import { Page } from '../parts/page'
import { Tag } from '../parts/status'
import { requestedList, Table, type Column } from '../parts/table'
import { Tabs } from '../parts/tabs'
import { TextWithCode } from '../parts/text-with-code'
import { eventTabs } from './events'
import { useAllEventKinds, useEventKinds } from './webhooks/event-kinds'

const columns: readonly Column<EventKindView>[] = [
  { title: 'Event kind', look: 'mono', render: one => one.kind },
  { title: 'Description', onPhone: 'line', render: one => <TextWithCode text={one.description} /> },
  { title: 'Area', width: '8rem', showFrom: 'md', render: one => <Tag>{one.area}</Tag> },
  { title: 'Version', width: '6rem', alignRight: true, showFrom: 'lg', render: one => one.version },
]

/** The event kinds that can occur, each with its example and JSON Schema. */
export default function EventKinds() {
  const all = useAllEventKinds()
  const kinds = useEventKinds()
  return (
    <Page description="What each event contains. Select one for an example and its JSON Schema, to write a receiver for webhooks.">
      <Tabs label="Events" tabs={eventTabs.map((to, at) => ({ to, label: labelOf(to), exact: at === 0 }))} />
      <Table
        label="Event kinds"
        columns={columns}
        list={requestedList(all, kinds)}
        idOf={one => one.kind}
        onOpen={showKind}
        empty={null}
      />
    </Page>
  )
}

/** Shows the example and the JSON Schema of an event kind. */
const showKind = ({ kind, title, description, example, schema }: EventKindView) =>
  openDialog({
    title,
    description: <TextWithCode text={`\`${kind}\`: ${description}`} />,
    wide: true,
    content: (
      <div className="flex flex-col gap-4">
        <Json label="Example of data" value={example} />
        <Json label="JSON Schema of data" value={schema} />
      </div>
    ),
  })
