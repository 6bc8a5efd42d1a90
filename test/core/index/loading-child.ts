/** Starts a server and prints whether this has loaded the client of Elasticsearch; for adapter.test.ts. */
import { createRequire } from 'node:module'
import { openScope } from '../../bench/support/report.ts'
import { testApp } from '../../support/testing.ts'

const { cache } = createRequire(import.meta.url)
const isLoaded = () => Object.keys(cache).some((path) => path.includes('@elastic/elasticsearch'))
const scope = openScope()
await testApp(scope)
const before = isLoaded()
await import('@elastic/elasticsearch')
process.stdout.write(JSON.stringify([before, isLoaded()]))
await scope.close()
process.exit(0)
