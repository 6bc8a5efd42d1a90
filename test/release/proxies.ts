/** Tests the recipes for proxies, and installs missing proxy programs: `make test-release`. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { isInstalled } from '../support/reverse-proxy.ts'

const PACKAGES = { nginx: 'nginx-light', lighttpd: 'lighttpd lighttpd-mod-openssl', caddy: 'caddy' }

for (const [program, name] of Object.entries(PACKAGES))
  if (!(await isInstalled(program)) && process.getuid?.() === 0)
    // Prevents the start of the package's service.
    await promisify(execFile)('sh', [
      '-c',
      `apt-get update -qq && DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends ${name}`,
    ]).catch(() => undefined)
await import('../config/proxies.test.ts')
