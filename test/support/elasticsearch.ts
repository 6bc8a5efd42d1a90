/**
 * A real Elasticsearch for tests: the node that all tests of a run share, or a separate one that a test can stop and
 * start.
 */
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type ElasticNode, makeNode, type NodeOptions, whyNoElasticsearch } from '../elasticsearch/node.ts'
import { lastFirst, type Scope } from './last-first.ts'
import { missingHere } from './required.ts'

const START_WITHIN_MS = 180_000

export interface TestElasticsearch {
  url: string
  /** For AV_PREFIX; unique to this test. Everything with this prefix is removed after the test. */
  prefix: string
  /** A folder for snapshots, for this test alone, to which the node may write. */
  repository: string
}

/**
 * The reason why tests on Elasticsearch cannot run here, for `skip`; undefined if they can.
 * @throws under AV_TEST_REQUIRE=elasticsearch
 */
export function withoutElasticsearch(): string | undefined {
  if (process.env.AV_TEST_ELASTICSEARCH_URL) return undefined
  const why =
    process.env.TEST_WITHOUT === 'elasticsearch' ? 'This run goes without it: make test ALL=1' : whyNoElasticsearch()
  return why && missingHere('elasticsearch', why)
}

/**
 * The node that test/run.ts has started; for a test file that is run by hand, one that ends with its process.
 * @param prefix  only if the prefix is part of what is tested: then by one test at a time, in one file
 */
export async function testElasticsearch(
  scope: Scope,
  prefix = `t${randomBytes(5).toString('hex')}`,
): Promise<TestElasticsearch> {
  const { url, repository } = await sharedNode()
  const own = await folderIn(repository, prefix)
  lastFirst(scope).after(async () => {
    await removeAll(url, prefix)
    await rm(own, { recursive: true, force: true })
  })
  return { url, prefix, repository: own }
}

/** A separate running node. It takes ten seconds to start, so only tests that stop it use it. */
export async function ownElasticsearch(scope: Scope, options: NodeOptions = {}): Promise<ElasticNode> {
  const node = await makeNode({ heapMb: 256, ...options })
  lastFirst(scope).after(() => node.close())
  await node.start()
  return node
}

let shared: Promise<{ url: string; repository: string }> | undefined

function sharedNode(): Promise<{ url: string; repository: string }> {
  return (shared ??= (async () => {
    const { AV_TEST_ELASTICSEARCH_URL: url, AV_TEST_ELASTICSEARCH_REPOSITORY: repository = '' } = process.env
    if (url) return untilServing({ url, repository })
    const node = await makeNode()
    await node.start()
    // node:test runs no hook after the last file of a process: the guard ends the node after this process.
    return node
  })())
}

async function untilServing(node: { url: string; repository: string }): Promise<{ url: string; repository: string }> {
  for (const end = Date.now() + START_WITHIN_MS; ; await delay(200)) {
    const isServing = await fetch(`${node.url}/_cluster/health?wait_for_status=yellow&timeout=20s`).then(
      ({ status }) => status === 200,
      () => false,
    )
    if (isServing) return node
    if (Date.now() > end)
      throw new Error(`No Elasticsearch answers at ${node.url}, which AV_TEST_ELASTICSEARCH_URL names`)
  }
}

/** Both Elasticsearch's user and ours can write to it. */
async function folderIn(repository: string, prefix: string): Promise<string> {
  if (repository === '') return ''
  const folder = await mkdtemp(join(repository, `${prefix}-`))
  await chmod(folder, 0o777)
  return folder
}

async function removeAll(url: string, prefix: string): Promise<void> {
  const ask = (method: string, path: string) => fetch(`${url}/${path}`, { method })
  const repositories = (await (await ask('GET', `_snapshot/${prefix}*`)).json()) as object
  for (const name of Object.keys(repositories)) if (name.startsWith(prefix)) await ask('DELETE', `_snapshot/${name}`)
  // By name, because clusters may forbid patterns.
  const indexes = (await (
    await ask('GET', `_cat/indices/${prefix}*,.${prefix}*?format=json&h=index&expand_wildcards=all`)
  ).json()) as Array<{ index: string }>
  const names = indexes.map(({ index }) => index)
  for (let from = 0; from < names.length; from += 50) await ask('DELETE', names.slice(from, from + 50).join(','))
}
