import type { ServerView } from '../../../features/servers/shapes'
import { CheckboxField, useBlocked, useForm } from '../../parts/form'
import { formatAmount } from './amounts'
import { useAccepted, useHasPrices } from './draft-price'
import { FreeSizeFields, SizeField } from './size-field'
import { useQuote } from './use-quote'

/** A size for an existing server, with its price. */
export function ResizeFields({ server }: { server: ServerView }) {
  const { values } = useForm()
  const hasPrices = useHasPrices(server.account_id)
  const { account_id: account, location, image, size, price, backups } = server
  const chosen = values['params.size'] as string | null
  const hasIpv4 = server.addresses.some(one => one.family === 4 && one.scope === 'public')
  const body = {
    name: server.name,
    account_id: account,
    location,
    image,
    size: chosen,
    enable_ipv4: hasIpv4,
    backups: backups === true,
  }
  const { result, isCurrent } = useQuote(hasPrices && chosen !== null ? body : null)
  useAccepted(result)
  useBlocked(!isCurrent)
  return (
    <>
      {size.slug === null ? (
        <FreeSizeFields name="params.size" />
      ) : (
        <SizeField name="params.size" accountId={account!} location={location} current={size.slug} />
      )}
      <CheckboxField
        name="params.upgrade_disk"
        label="Upgrade the disk, too"
        hint="It can’t become smaller again afterwards, so sizes with a smaller disk are no longer possible."
      />
      {hasPrices && (
        <p aria-live="polite" className={isCurrent ? '' : 'opacity-60'}>
          {result?.price.monthly ? (
            <>
              <span className="text-muted">Price per month: </span>
              {price.monthly && `${formatAmount(price.monthly, price.currency)} → `}
              <span className="font-semibold">{formatAmount(result.price.monthly, result.price.currency)}</span>
            </>
          ) : (
            <span className="text-muted">Choose a size to see the price.</span>
          )}
        </p>
      )}
    </>
  )
}
