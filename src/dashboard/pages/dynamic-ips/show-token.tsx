import type { DynamicIpWithSecretView } from '../../../features/dynamic-ips/shapes'
import { showSecret } from '../../parts/secret'
import { ClientConfigs } from './client-configs'

export type SourceWithToken = DynamicIpWithSecretView

/** Shows the new token of a source once. */
export const showToken = ({ id, name, secret }: SourceWithToken, onClose?: () => void): void =>
  showSecret({
    title: 'Copy the token',
    description: 'Enter it in your router or dynamic DNS client. It is shown only once. Bailiwick stores only a hash.',
    value: secret ?? undefined,
    file: `dynamic ip token ${name}`,
    wide: true,
    usage: <ClientConfigs id={id} token={secret} />,
    ...(onClose && { onClose }),
  })
