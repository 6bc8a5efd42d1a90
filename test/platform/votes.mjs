// A service like the public one that estimates dislikes: one request per video, by its id.

export class Votes {
  #votes = new Map()
  calls = []
  /**
   * If set, the answer to every call.
   * @type {{ status: number, body: unknown } | undefined}
   */
  instead = undefined

  add(videoId, dislikes) {
    this.#votes.set(videoId, dislikes)
  }

  clear() {
    this.#votes.clear()
    this.calls = []
    this.instead = undefined
  }

  /** Answers a call below the service's own path. Returns `{ status, body }`. */
  answer(method, path, query) {
    const answer = this.instead ?? this.#route(method, path, query)
    this.calls.push({ method, path, query, status: answer.status })
    return answer
  }

  #route(method, path, { videoId }) {
    if (method !== 'GET' || path !== '/votes') return { status: 404, body: 'Not Found' }
    if (!/^[\w-]{1,20}$/.test(videoId ?? '')) return { status: 400, body: { status: 400, title: 'One or more validation errors occurred.' } }
    if (!this.#votes.has(videoId)) return { status: 404, body: { status: 404, title: 'Not Found' } }
    const dislikes = this.#votes.get(videoId)
    const body = { id: videoId, dateCreated: '2026-01-01T00:00:00Z', likes: 100, dislikes, rating: 4.5, viewCount: 1000, deleted: false }
    return { status: 200, body }
  }
}
