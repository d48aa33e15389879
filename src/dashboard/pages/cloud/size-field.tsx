import type { CatalogSizeView } from '../../../features/servers/accounts/catalog-shapes'
import { Columns, FieldFrame, NumberField, useForm } from '../../parts/form'
import { Input } from '../../parts/input'
import { formatDate } from '../../parts/time'
import { useCatalog } from './accounts'
import { describeResources, formatAmount } from './amounts'

interface SizeFieldProps {
  /** Name in the request body. */
  name: string
  accountId: string
  location: string | null
  /** The size that the server has, if it has one. */
  current?: string | null
}

/** A size of the catalog, with its price and stock in a location. */
export function SizeField({ name, accountId, location, current }: SizeFieldProps) {
  const { values, set } = useForm()
  const { data } = useCatalog<CatalogSizeView>(accountId, 'sizes')
  // Without a location, the cheapest of those that have it in stock.
  const offerOf = ({ offers }: CatalogSizeView) =>
    offers
      .filter(one => location === null || one.location === location)
      .toSorted((a, b) => Number(a.available === false) - Number(b.available === false) || amountOf(a) - amountOf(b))[0]
  const sizes = (data?.data ?? [])
    .filter(one => location === null || offerOf(one) !== undefined)
    .toSorted((a, b) => amountOf(offerOf(a)) - amountOf(offerOf(b)))
  return (
    <FieldFrame name={name} label="Size" isPicked>
      {attributes => (
        <div
          {...attributes}
          role="radiogroup"
          aria-label="Size"
          tabIndex={-1}
          className="max-h-80 divide-y divide-line overflow-y-auto rounded-md border border-strong-line aria-invalid:border-bad"
        >
          {data && sizes.length === 0 && <p className="p-3 text-muted">No sizes are offered in this location.</p>}
          {sizes.map(one => (
            <SizeOption
              key={one.slug}
              size={one}
              offer={offerOf(one)}
              name={name}
              isLowest={location === null && one.offers.length > 1}
              isCurrent={one.slug === current}
              isChosen={values[name] === one.slug}
              onChoose={() => set({ [name]: one.slug })}
            />
          ))}
        </div>
      )}
    </FieldFrame>
  )
}

type Offer = CatalogSizeView['offers'][number]

const amountOf = (offer: Offer | undefined): number => Number(offer?.price?.monthly ?? 0)

interface SizeOptionProps {
  size: CatalogSizeView
  offer: Offer | undefined
  name: string
  /** Whether other locations may cost more. */
  isLowest: boolean
  isCurrent: boolean
  isChosen: boolean
  onChoose(): void
}

function SizeOption({ size, offer, name, isLowest, isCurrent, isChosen, onChoose }: SizeOptionProps) {
  const isOut = offer?.available === false
  return (
    <label className={`flex items-start gap-3 px-3 py-2 hover:bg-hover ${isChosen ? 'bg-accent-soft' : ''}`}>
      <input type="radio" className="mt-1" name={name} checked={isChosen} disabled={isOut || isCurrent} onChange={onChoose} />
      <span className={`min-w-0 grow ${isOut ? 'text-muted' : ''}`}>
        <span className="font-medium">{size.slug}</span>
        {isCurrent && <span className="text-muted"> · current size</span>}
        <span className="block text-[13px] text-muted">
          {describeResources(size)}
          {size.architecture && ` · ${size.architecture}`}
          {size.shared_cores && ' · shared cores'}
          {size.unavailable_after && ` · until ${formatDate(size.unavailable_after)}`}
        </span>
      </span>
      <span className="shrink-0 text-right whitespace-nowrap">
        {offer?.price && isLowest && <span className="text-[13px] text-muted">from </span>}
        {offer?.price ? formatAmount(offer.price.monthly, offer.price.currency) : <span className="text-muted">–</span>}
        {isOut && <span className="block text-[13px] text-warn">out of stock</span>}
      </span>
    </label>
  )
}

const gibibyte = 2 ** 30

/** An amount of bytes, entered in GiB. */
function GibibytesField({ name, label }: { name: string; label: string }) {
  const { values, set } = useForm()
  const bytes = values[name] as number | null
  return (
    <FieldFrame name={name} label={label}>
      {attributes => (
        <div className="flex items-center gap-2">
          <Input
            {...attributes}
            type="number"
            min={0}
            step="any"
            className="h-9 max-w-32"
            value={bytes === null ? '' : String(bytes / gibibyte)}
            onText={text => set({ [name]: text === '' ? null : Math.round(Number(text) * gibibyte) })}
          />
          <span className="text-muted">GiB</span>
        </div>
      )}
    </FieldFrame>
  )
}

/** A size of your choice, for clouds without fixed sizes. */
export const FreeSizeFields = ({ name }: { name: string }) => (
  <Columns>
    <NumberField name={`${name}.cores`} label="CPU cores" min={1} />
    <GibibytesField name={`${name}.memory_bytes`} label="Memory" />
    <GibibytesField name={`${name}.disk_bytes`} label="Disk" />
  </Columns>
)
