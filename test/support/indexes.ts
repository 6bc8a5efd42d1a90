/** The two indexes, for tests that must pass on each. */
import type { Settings } from '../../config/schema.ts'
import { testElasticsearch, withoutElasticsearch } from './elasticsearch.ts'
import type { Scope } from './last-first.ts'

export type IndexPlace = 'the embedded index' | 'Elasticsearch'

/** With the reason why tests cannot run on it, for `skip`. */
export const INDEXES: ReadonlyArray<{ index: IndexPlace; skip: string | false }> = [
  { index: 'the embedded index', skip: false },
  { index: 'Elasticsearch', skip: withoutElasticsearch() ?? false },
]

/**
 * Settings for a test app. Its Elasticsearch indexes are removed after the test, so register both with the scope of
 * `lastFirst`.
 */
export async function indexSettings(scope: Scope, index: IndexPlace, wanted?: string): Promise<Partial<Settings>> {
  if (index === 'the embedded index') return {}
  const { url, prefix, repository } = await testElasticsearch(scope, wanted)
  return { elasticsearchUrl: url, elasticsearchRepository: repository === '' ? null : repository, prefix }
}

/** The same for a server in its own process. */
export async function indexEnv(scope: Scope, index: IndexPlace): Promise<Record<string, string>> {
  const { elasticsearchUrl, elasticsearchRepository, prefix } = await indexSettings(scope, index)
  return {
    ...(elasticsearchUrl && { AV_ELASTICSEARCH_URL: elasticsearchUrl }),
    ...(elasticsearchRepository && { AV_ELASTICSEARCH_REPOSITORY: elasticsearchRepository }),
    ...(prefix && { AV_PREFIX: prefix }),
  }
}
