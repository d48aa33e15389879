import { cloudContract } from '../support/clouds/cloud-contract'
import { ProxmoxCloud } from '../support/clouds/proxmox-cloud'
import { proxmoxUnderTest } from '../support/clouds/proxmox-under-test'

cloudContract('Proxmox', async () => proxmoxUnderTest(await new ProxmoxCloud().start()))
