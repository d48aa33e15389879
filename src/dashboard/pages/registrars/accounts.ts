import type { RegistrarAccountView, RegistrarKindView } from '../../../features/registrars/shapes'
import type { CheckedAccounts } from '../../parts/account-check'
import { settingsBody, settingValues } from '../../parts/adapter-settings'
import type { Values } from '../../parts/form'
import { useOne } from '../../queries'

/** How checks of registrar accounts are explained. */
export const checkedAccounts: CheckedAccounts = { noun: 'registrar', help: '/docs/registrars#health-checks' }

/** Paths that change with an account. */
export const invalidates = ['/registrar-accounts', '/domains']

export const useRegistrarAccounts = () => useOne<{ data: RegistrarAccountView[] }>('/registrar-accounts')
export const useRegistrarKinds = () => useOne<{ data: RegistrarKindView[] }>('/registrar-kinds')

/** Titles of kinds of registrars. Blank while loading. */
export function useRegistrarKindTitles(): (kind: string) => string {
  const { data } = useRegistrarKinds()
  return kind => data?.data.find(one => one.kind === kind)?.title ?? '\u00a0'
}

/** Form values of an account, or of a new one. */
export const accountValues = (kind: RegistrarKindView, account: RegistrarAccountView | null): Values => ({
  name: account?.name ?? kind.title,
  ...settingValues(kind, account?.settings),
  manage_new: account?.manage_new ?? 'track',
})

/** The request body: what differs from the values before, or everything of a new account. */
export const accountBody = (kind: RegistrarKindView, values: Values, before: Values | null): Values => ({
  ...(before === null && { kind: kind.kind }),
  ...(before?.name !== values.name && { name: values.name }),
  ...settingsBody(kind, values, before),
  ...((before?.manage_new ?? 'track') !== values.manage_new && { manage_new: values.manage_new }),
})

type Money = NonNullable<RegistrarAccountView['balance']>

/** “$10.37”, in the format of the viewer’s language. */
export const moneyText = ({ amount, currency }: Money): string =>
  new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(Number(amount))
