/** Returns a word as the index stores it. */
import { parentPort } from 'node:worker_threads'
import { tokens } from '@archivolt/plugin/index'

const [said] = tokens('Straße')
parentPort!.postMessage(said)
