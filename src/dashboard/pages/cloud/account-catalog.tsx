import { Box } from 'lucide-react'
import { useState } from 'react'
import type {
  CatalogImageView,
  CatalogLocationView,
  CatalogNetworkView,
  CatalogSizeView,
} from '../../../features/servers/accounts/catalog-shapes'
import type { CloudAccountView } from '../../../features/servers/accounts/shapes'
import { Empty } from '../../parts/empty'
import { Card } from '../../parts/page'
import { SendButton } from '../../parts/send-button'
import { Status, Tag } from '../../parts/status'
import { requestedList, Table, type Column } from '../../parts/table'
import { formatDate, RelativeTime } from '../../parts/time'
import { ToggleGroup } from '../../parts/toggle-group'
import { useCatalog } from './accounts'
import { describeResources, formatAmount, formatGibibytes } from './amounts'

const locationColumns: readonly Column<CatalogLocationView>[] = [
  { title: 'Location', look: 'strong', render: one => one.slug },
  { title: 'Name', onPhone: 'plain', render: one => one.title },
  { title: 'Place', onPhone: 'plain', render: one => [one.city, one.country].filter(Boolean).join(', ') },
]

const sizeColumns: readonly Column<CatalogSizeView>[] = [
  { title: 'Size', look: 'strong', width: '9rem', render: one => one.slug },
  {
    title: 'Resources',
    onPhone: 'line',
    render: one => (
      <>
        {describeResources(one)}
        <span className="text-muted">
          {one.architecture && ` · ${one.architecture}`}
          {one.shared_cores && ' · shared cores'}
        </span>
      </>
    ),
  },
  { title: 'Price per month', width: '12rem', alignRight: true, onPhone: 'plain', render: one => <PriceRange size={one} /> },
  { title: 'In stock', width: 'clamp(12rem, 26cqw, 24rem)', onPhone: 'line', render: one => <Stock size={one} /> },
]

const imageColumns: readonly Column<CatalogImageView>[] = [
  { title: 'Image', look: 'strong', render: one => one.slug },
  { title: 'Name', onPhone: 'plain', render: one => one.title },
  { title: 'Kind', width: '8rem', onPhone: 'plain', render: one => one.kind },
  { title: 'Architecture', width: '8rem', showFrom: 'lg', onPhone: 'hidden', render: one => one.architecture },
  {
    title: 'Minimum disk',
    width: '9rem',
    showFrom: 'lg',
    onPhone: 'hidden',
    alignRight: true,
    render: one => one.min_disk_bytes !== null && formatGibibytes(one.min_disk_bytes),
  },
  { title: 'Status', width: '8rem', render: one => one.deprecated && <Status status="warning" label="deprecated" /> },
]

const networkColumns: readonly Column<CatalogNetworkView>[] = [
  { title: 'Network', look: 'strong', render: one => one.title },
  { title: 'Ranges', look: 'mono', onPhone: 'line', render: one => one.cidrs.join(', ') },
  { title: 'Location', width: '10rem', onPhone: 'plain', render: one => one.location },
  { title: 'ID', width: '10rem', look: 'mono', onPhone: 'hidden', render: one => one.ref },
]

/** The lowest price, or the range of prices if it depends on the location. */
function PriceRange({ size }: { size: CatalogSizeView }) {
  const prices = size.offers.flatMap(one => one.price ?? []).sort((a, b) => Number(a.monthly) - Number(b.monthly))
  const [low, high] = [prices[0], prices.at(-1)]
  if (!low || !high) return null
  const [from, to] = [low, high].map(one => formatAmount(one.monthly, one.currency))
  return from === to ? from : `${from} – ${to}`
}

function Stock({ size: { offers, unavailable_after: until } }: { size: CatalogSizeView }) {
  const places = offers.filter(one => one.available).map(one => one.location)
  return (
    <span className="flex flex-wrap items-center gap-1">
      {places.map(one => (
        <Tag key={one}>{one}</Tag>
      ))}
      {places.length === 0 && offers.length > 0 && <span className="text-muted">Out of stock</span>}
      {until && <span className="text-[13px] text-warn">until {formatDate(until)}</span>}
    </span>
  )
}

const parts = { locations: 'Locations', sizes: 'Sizes', images: 'Images', networks: 'Networks' }

/** What the cloud offers: locations, sizes with prices, images, and networks. */
export function AccountCatalog({ account: { id } }: { account: CloudAccountView }) {
  const [shown, setShown] = useState('sizes')
  return (
    <Card
      title="Catalog"
      className="lg:col-span-2"
      flush
      actions={
        <>
          <ToggleGroup label="Part of the catalog" value={shown} onChange={setShown} choices={parts} />
          <SendButton
            small
            kind="quiet"
            call={{ method: 'GET', path: `/cloud-accounts/${id}/sizes`, query: { refresh: true } }}
            send={{ toast: 'Catalog read again', invalidates: [`/cloud-accounts/${id}`] }}
            sendingLabel="Refreshing…"
          >
            Refresh
          </SendButton>
        </>
      }
    >
      {shown === 'locations' && (
        <CatalogTable
          id={id}
          name="locations"
          columns={locationColumns}
          idOf={one => one.slug}
          empty="This cloud has no locations"
        />
      )}
      {shown === 'sizes' && (
        <CatalogTable id={id} name="sizes" columns={sizeColumns} idOf={one => one.slug} empty="Sizes can be chosen freely" />
      )}
      {shown === 'images' && (
        <CatalogTable id={id} name="images" columns={imageColumns} idOf={one => one.slug} empty="There are no images" />
      )}
      {shown === 'networks' && (
        <CatalogTable
          id={id}
          name="networks"
          columns={networkColumns}
          idOf={one => one.ref}
          empty="There are no private networks"
        />
      )}
    </Card>
  )
}

interface CatalogTableProps<Row> {
  id: string
  name: keyof typeof parts
  columns: readonly Column<Row>[]
  idOf(row: Row): string
  empty: string
}

function CatalogTable<Row>({ id, name, columns, idOf, empty }: CatalogTableProps<Row>) {
  const found = useCatalog<Row>(id, name)
  return (
    <>
      <Table
        label={parts[name]}
        columns={columns}
        list={requestedList(found, found.data?.data)}
        idOf={idOf}
        empty={<Empty icon={Box} title={empty} />}
      />
      <p className="border-t border-line px-4 py-2 text-[13px] text-muted">
        Read {found.data ? <RelativeTime at={found.data.as_of} /> : '\u00a0'}
      </p>
    </>
  )
}
