import { TestSettings } from '../parts/account-check'
import { CreatePage } from '../parts/edit-page'
import { FieldFrame } from '../parts/form'
import { Select } from '../parts/input'
import { Loaded } from '../parts/page'
import { useUrlState } from '../parts/url-state'
import { AccountFields, accountBody, accountValues } from './cloud/account-fields'
import { checkedAccounts, invalidates, useCloudKinds } from './cloud/accounts'

/** Adds a cloud account. Settings can be tested first. */
export default function NewCloudAccount() {
  const kinds = useCloudKinds()
  const [{ kind: name }, set] = useUrlState({ kind: '' })
  return (
    <Loaded query={kinds} parent="/cloud-accounts">
      {({ data }) => {
        const kind = data.find(one => one.kind === name) ?? data[0]!
        return (
          <CreatePage
            key={kind.kind}
            parent="/cloud-accounts"
            page="/cloud-accounts/$id"
            path="/cloud-accounts"
            invalidates={invalidates}
            description="An account at a cloud, or a hypervisor of your own, and the credentials Bailiwick uses to reach it."
            initial={accountValues(kind, null)}
            bodyOf={values => accountBody(kind, values, null)}
          >
            <FieldFrame name="kind" label="Kind">
              {attributes => (
                <Select
                  {...attributes}
                  value={kind.kind}
                  onText={value => set({ kind: value })}
                  choices={data.map(one => [one.kind, one.title] as const)}
                />
              )}
            </FieldFrame>
            <AccountFields kind={kind} withSpend />
            <TestSettings kind={kind} of={checkedAccounts} path="/cloud-checks" />
          </CreatePage>
        )
      }}
    </Loaded>
  )
}
