// PNG by libpng, JPEG by libjpeg-turbo: the decoders that Pillow has.
#include <fmt/format.h>
#include <jerror.h>
#include <jpeglib.h>
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "workloads/data/pictures.h"

namespace workloads {
namespace {

[[noreturn]] void refuse_picture(const std::filesystem::path& file, const std::string& what) {
  throw base::Error{base::Fault::kData, file.string(), what, "replace the file, or remove it from the folder"};
}

/// A header of a few bytes may say 65,535 x 65,535. Photographs have some 2^27 pixels at the most.
constexpr std::uint64_t kMostPixels = 1 << 28;
constexpr const char* kTooLarge = "claims more than 268 million pixels";
/// The most pixels that a byte tells of: a JPEG has a bit at least for each 8 x 8 of them, a PNG a bit for each, which
/// deflate packs by 1,032 at the most (RFC 1951). The decoders would fill in the others for seconds.
constexpr std::uint64_t kJpegPixels = 8 * 64, kPngPixels = 8 * 1032;
constexpr const char* kTooShort = "claims more pixels than its bytes can hold";

/// Why a picture of that size is refused; null if it is not.
const char* refusal(std::uint64_t pixels, std::uint64_t most) {
  return pixels > kMostPixels ? kTooLarge : pixels > most ? kTooShort : nullptr;
}

Picture read_png(const std::string& bytes, const std::filesystem::path& file) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  std::vector<std::uint8_t> rgba;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) != 0) {
    const char* why = refusal(std::uint64_t{image.width} * image.height, kPngPixels * bytes.size());
    if (why) png_image_free(&image), refuse_picture(file, why);
    image.format = PNG_FORMAT_RGBA;  // without the last one a transparent pixel would be mixed with black
    rgba.resize(PNG_IMAGE_SIZE(image));
    png_image_finish_read(&image, nullptr, rgba.data(), 0, nullptr);
  }
  const std::string problem = PNG_IMAGE_FAILED(image) ? image.message : "";
  Picture out{.width = image.width, .height = image.height};
  png_image_free(&image);
  if (!problem.empty()) refuse_picture(file, fmt::format("is not a complete PNG: {}", problem));
  for (std::size_t at = 0; at < rgba.size(); at += 4)
    out.rgb.insert(out.rgb.end(), rgba.begin() + static_cast<std::ptrdiff_t>(at),
                   rgba.begin() + static_cast<std::ptrdiff_t>(at) + 3);
  return out;
}

/// libjpeg's errors leave its functions by a jump. It only warns of data that ends early, and fills in the missing
/// part.
struct JpegErrors {
  jpeg_error_mgr manager;  // first: libjpeg hands out a pointer to it
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

void jump_out(j_common_ptr jpeg) {
  auto* errors = reinterpret_cast<JpegErrors*>(jpeg->err);
  errors->manager.format_message(jpeg, errors->message);
  std::longjmp(errors->jump, 1);
}

/// As Pillow: oddities such as bytes between two parts are no reason to refuse a picture.
void jump_at_end(j_common_ptr jpeg, int) {
  if (jpeg->err->msg_code == JWRN_JPEG_EOF) jump_out(jpeg);
}

/// Whether it was read. Nothing in here has a destructor that the jump would skip.
bool decode(jpeg_decompress_struct& jpeg, JpegErrors& errors, const std::string& bytes, Picture& out) {
  if (setjmp(errors.jump) != 0) return false;
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&jpeg, TRUE);
  const std::uint64_t most = jpeg.arith_code ? kMostPixels : kJpegPixels * bytes.size();
  if (const char* why = refusal(std::uint64_t{jpeg.image_width} * jpeg.image_height, most)) {
    std::snprintf(errors.message, sizeof(errors.message), "%s", why);
    return false;
  }
  jpeg.out_color_space = JCS_RGB;
  jpeg_start_decompress(&jpeg);
  out.width = jpeg.output_width, out.height = jpeg.output_height;
  const std::size_t row = std::size_t{3} * jpeg.output_width;
  out.rgb.resize(row * jpeg.output_height);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW line = out.rgb.data() + row * jpeg.output_scanline;
    jpeg_read_scanlines(&jpeg, &line, 1);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

Picture read_jpeg(const std::string& bytes, const std::filesystem::path& file) {
  jpeg_decompress_struct jpeg{};
  JpegErrors errors{};
  jpeg.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = jump_out;
  errors.manager.emit_message = jump_at_end;
  Picture out;
  const bool read = decode(jpeg, errors, bytes, out);
  jpeg_destroy_decompress(&jpeg);
  if (!read) refuse_picture(file, fmt::format("is not a complete JPEG: {}", errors.message));
  return out;
}

}  // namespace

Picture read_picture(const std::filesystem::path& file) {
  const std::string bytes = base::read_file(file);
  if (bytes.starts_with("\x89PNG")) return read_png(bytes, file);
  if (bytes.starts_with("\xff\xd8")) return read_jpeg(bytes, file);
  refuse_picture(file, bytes.empty() ? "is empty" : "is neither PNG nor JPEG");
}

}  // namespace workloads
