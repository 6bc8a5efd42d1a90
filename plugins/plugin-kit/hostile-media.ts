/**
 * Input options for programs that open media files from strangers. They allow only formats, detected by content, that
 * cannot refer to other files or addresses. Otherwise a file list, a concat script or a session description disguised as
 * a film could make them read any file of this machine or contact a server.
 */

/** Demuxers of films and sound. None of them opens any other file. */
const FILM_FORMATS = 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,flv,mpegts,mpeg,asf,ogg,m4v,h264,hevc,mp3,flac,aac,wav'
/** Demuxers of single pictures, without animations in film containers. */
const PICTURE_FORMATS = 'jpeg_pipe,png_pipe,webp_pipe,gif,gif_pipe,bmp_pipe,tiff_pipe,jpegxl_pipe'

const only = (formats: string, protocol: 'file' | 'pipe', url: string): string[] => [
  ...['-protocol_whitelist', protocol],
  ...['-format_whitelist', formats],
  ...['-i', url],
]

/** A film or sound file, by absolute path. */
export const filmInput = (path: string): string[] => only(FILM_FORMATS, 'file', `file:${path}`)
/** A file of a known format, by absolute path: the format of a text cannot be detected by content. */
export const inputOf = (format: 'srt' | 'jpeg_pipe', path: string): string[] => [
  ...['-f', format],
  ...only(format, 'file', `file:${path}`),
]
/** All formats of a download: films, pictures, texts, tags. */
export const DOWNLOADED_FORMATS = `${FILM_FORMATS},${PICTURE_FORMATS},image2,webvtt,srt,ass,ffmetadata`
/** A picture piped into the child, which does not learn even its name. */
export const pipedPictureInput = (): string[] => only(PICTURE_FORMATS, 'pipe', 'pipe:0')
