import { SelectField } from '../../parts/form'

/** Whether a snapshot is created before another one is restored. Blank is the default of the API. @param name of the field */
export const SafetySnapshotField = ({ name }: { name: string }) => (
  <SelectField
    name={name}
    label="Snapshot of the current state"
    hint="On ZFS, only the newest snapshot can be restored, so none can be created before."
    choices={[
      ['', 'Create one first if it is free and possible'],
      ['yes', 'Create one first'],
      ['no', 'Don’t create one'],
    ]}
  />
)

/** The value of this field, for the API. */
export const safetySnapshotIn = (value: unknown): { safety_snapshot?: boolean } =>
  value === 'yes' || value === 'no' ? { safety_snapshot: value === 'yes' } : {}
