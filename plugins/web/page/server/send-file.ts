/** Sends a file and reports the progress, which fetch does not. */

export interface FileRequest {
  method: string
  headers: Record<string, string>
  content: Blob
  /** @param share  from 0 to 1 */
  onProgress: (share: number) => void
  signal?: AbortSignal | undefined
}

/** @throws DOMException `AbortError`; TypeError: there was no reply, as with fetch */
export function sendFile(
  url: string,
  { method, headers, content, onProgress, signal }: FileRequest,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, url)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total)
    request.onload = () => resolve(responseOf(request))
    request.onerror = () => reject(new TypeError('no reply'))
    request.onabort = () => reject(new DOMException('aborted', 'AbortError'))
    if (signal?.aborted) return request.onabort(new ProgressEvent('abort'))
    signal?.addEventListener('abort', () => request.abort())
    request.send(content)
  })
}

function responseOf(request: XMLHttpRequest): Response {
  const lines = request.getAllResponseHeaders().trim().split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  })
  return new Response(request.response, { status: request.status, headers })
}
