/** The input of a handler, whose signal is created only for handlers that use one. */
import type { ServerResponse } from 'node:http'
import { errors } from '../base/error.ts'
import type { RouteInput } from '../plugin/define.ts'
import type { HandlerHeaders } from './send.ts'

/** Checked against the route's schemas: a handler sees their types, the pipeline does not. */
export type Input = RouteInput<never, never, never> & { headers: HandlerHeaders }

export const serverCloses = () => errors.unavailable('The server is closing')

/** The signals of running requests: all are aborted when the server closes. */
export function openSignals() {
  const running = new Set<AbortController>()
  return {
    /** Aborted when the client disconnects, or by `abort`. */
    of(response: ServerResponse): AbortSignal {
      const controller = new AbortController()
      const leave = () => {
        running.delete(controller)
        controller.abort(errors.unavailable('The client has disconnected'))
      }
      if (response.closed || response.destroyed) leave()
      else {
        running.add(controller)
        response.on('close', leave)
      }
      return controller.signal
    },

    abort(): void {
      for (const controller of running) controller.abort(serverCloses())
    },
  }
}

type Signals = ReturnType<typeof openSignals>

/** `params` and `query` have passed the route's schemas; `body` is set once it is read. */
type Checked = Omit<Input, 'params' | 'query' | 'body' | 'signal'> & { params: object; query: object }

/** A class, because V8 moves object literals with a getter to the old heap. */
export class RequestInput {
  params
  query
  body = undefined
  actor
  page
  request
  headers
  readonly #signals: Signals
  readonly #response: ServerResponse
  #signal: AbortSignal | undefined

  constructor({ params, query, actor, page, request, headers }: Checked, signals: Signals, response: ServerResponse) {
    this.params = params
    this.query = query
    this.actor = actor
    this.page = page
    this.request = request
    this.headers = headers
    this.#signals = signals
    this.#response = response
  }

  get signal(): AbortSignal {
    return (this.#signal ??= this.#signals.of(this.#response))
  }
}
