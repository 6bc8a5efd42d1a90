/** The contract of the index port, on a real Elasticsearch. */
import assert from 'node:assert/strict'
import { systemClock } from '../../core/base/clock.ts'
import { openLog } from '../../core/log.ts'
import { connectElastic } from '../../plugins/elasticsearch/connection.ts'
import { openElasticIndex } from '../../plugins/elasticsearch/open.ts'
import { testElasticsearch, withoutElasticsearch } from '../support/elasticsearch.ts'
import { indexContract } from './index-suite.ts'

indexContract(
  'Elasticsearch',
  async (definitions) => {
    const afters: Array<() => unknown> = []
    const { url, prefix } = await testElasticsearch({ after: (work) => void afters.push(work) })
    const log = openLog('silent')
    return {
      open(onGarbled, declared = definitions) {
        const connection = connectElastic({ url, names: `${prefix}_*`, log, clock: systemClock })
        return openElasticIndex({
          connection,
          definitions: declared,
          log,
          clock: systemClock,
          prefix,
          owner: 'this test',
          onGarbled,
        })
      },
      async garble(collection, id) {
        const document = `${url}/${prefix}_${collection}/_update/${id}?refresh=true`
        const { status } = await fetch(document, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ doc: { text: '{"title"/"Two"}' } }),
        })
        assert.equal(status, 200)
      },
      async remove() {
        for (const after of afters) await after()
      },
    }
  },
  { skip: withoutElasticsearch() ?? false },
)
