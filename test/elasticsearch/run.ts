/**
 * Runs a command with one Elasticsearch node that all its tests share, and ends with its exit code: `run.ts <program>
 * <arguments…>`.
 */
import { spawn } from 'node:child_process'
import { type ElasticNode, makeNode, whyNoElasticsearch } from './node.ts'

const [program, ...args] = process.argv.slice(2)
if (program === undefined) throw new Error('Which command?')

const why = process.env.AV_TEST_ELASTICSEARCH_URL ? undefined : whyNoElasticsearch()
const node = process.env.AV_TEST_ELASTICSEARCH_URL || why ? undefined : await makeNode()
if (why) process.stderr.write(`Without Elasticsearch: ${why}\n`)

// Tests that need the node wait for it; the others start in the meantime.
const child = spawn(program, args, {
  stdio: 'inherit',
  env: {
    ...process.env,
    ...(node && { AV_TEST_ELASTICSEARCH_URL: node.url, AV_TEST_ELASTICSEARCH_REPOSITORY: node.repository }),
  },
})
const ended = new Promise<number>((resolve) => {
  child.once('error', (error) => {
    process.stderr.write(`${program}: ${error.message}\n`)
    resolve(1)
  })
  child.once('exit', (code) => resolve(code ?? 1))
})
// Ctrl-C in a terminal reaches the child by itself; a signal to this process alone is forwarded.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void child.kill(signal))

let isFailed = false
const started = node ? begin(node) : Promise.resolve()
process.exitCode = await ended
if (isFailed) process.exitCode = 1
if (node) {
  await started
  await node.close()
}

/**
 * If the node does not start, the run has failed, and is ended at once: tests that wait for the node would fail much
 * later.
 */
async function begin(one: ElasticNode): Promise<void> {
  try {
    await one.start()
  } catch (error) {
    isFailed = true
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    child.kill('SIGTERM')
  }
}
