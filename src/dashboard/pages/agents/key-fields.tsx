import { CheckboxesField, Columns, SelectField, TextField, wordsOf, type Values } from '../../parts/form'

/** What an agent can be allowed to do, in the words of its owner. */
export const permissions = {
  reboot: 'Restart and shut down the server',
  firewall: 'Manage its firewall',
  update: 'Update the agent',
  wake: 'Wake other machines in its network',
}

/** The values of a new key. */
export const keyValues = { allow: [] as string[], units: '', expires_in_seconds: '3600', approve: 'auto' }

/** The values as the API expects them. */
export const keyBody = (values: Values) => ({
  allow: [...(values.allow as string[]), ...wordsOf(String(values.units)).map(unit => `restart:${unit}`)],
  expires_in_seconds: Number(values.expires_in_seconds),
  approve: values.approve,
})

/** What the agent is allowed to do. */
export const AllowFields = () => (
  <>
    <CheckboxesField
      name="allow"
      label="The agent may"
      hint="Stored in a file on the server that only root can change. Without permissions, the agent only collects data. To let it install certificates, add an install profile to the file later."
      choices={permissions}
      className="flex flex-col gap-2"
    />
    <TextField
      name="units"
      label="Services that it may restart"
      mono
      placeholder="e.g. nginx.service, postgresql.service"
      hint="systemd units, separated by commas."
    />
  </>
)

/** How long the key is valid, and who has to approve the agent. */
export const ValidityFields = () => (
  <Columns>
    <SelectField
      name="expires_in_seconds"
      label="Key expires"
      choices={[
        ['3600', 'In 1 hour'],
        ['86400', 'In 1 day'],
        ['604800', 'In 7 days'],
        ['2592000', 'In 30 days'],
      ]}
    />
    <SelectField name="approve" label="Approval" choices={{ auto: 'Only for existing servers', manual: 'For every agent' }} />
  </Columns>
)
