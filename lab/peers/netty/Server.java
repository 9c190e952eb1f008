// SPDX-License-Identifier: BSL-1.0
//
// What Netty can do as a server, so that the lab can put it beside gyre (lab/README.md, "Peers").
//
// As its documentation advises for speed:
// - a native transport instead of the JDK's, with less garbage and better performance:
//   https://netty.io/wiki/native-transports.html
// - direct buffers from a pool: https://netty.io/wiki/analyzing-memory-allocator-behavior.html
// - writes while data is read and one flush after it, with promises that have no listener:
//   https://netty.io/4.2/api/io/netty/channel/ChannelOutboundInvoker.html#voidPromise()
// - no search for leaks (setup.py starts it so): https://netty.io/wiki/reference-counted-objects.html
// - on io_uring, a ring of buffers that all connections share:
//   https://netty.io/4.2/api/io/netty/channel/uring/IoUringBufferRingConfig.html
//
// Tried in turns with what was here before, 1,000 B and 100 KiB on 100 connections, processor time per
// request as a share of it (2 s of warm-up, two virtual processors with other work on them, Linux 6.18):
// - io_uring, the ring of buffers, without checks: 0.89 and 0.89 (6 rounds); of 4 rounds before, all of
//   them without checks, 1.03 and 0.91; filled incrementally 1.27 and 0.93, of adaptive size 0.99 and 1.15
// - io_uring, the adaptive allocator, Netty 4.2's own choice: 0.96 and 1.32 (4 rounds)
// - io_uring, io.netty.buffer.checkBounds and checkAccessible off: 1.01 and 0.97 (6 rounds)
// - epoll, the adaptive allocator without these checks: 1.00 and 0.99 (7 rounds)

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringBufferRingConfig;
import io.netty.channel.uring.IoUringChannelOption;
import io.netty.channel.uring.IoUringFixedBufferRingAllocator;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringIoHandlerConfig;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.util.Version;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

public final class Server {
    static final int BACKLOG = 4096;
    static final int THREADS_MAX = 64;
    static final int REQUEST_SIZE_MAX = 16 * 1024;
    static final short BUFFER_GROUP = 1; // Of a thread's ring of buffers.
    static final short BUFFERS = 64;
    static final int BUFFER_SIZE = 32 * 1024;
    // Below what the lab has in flight, Netty would stop and start reading for nothing.
    static final WriteBufferWaterMark UNSENT = new WriteBufferWaterMark(512 * 1024, 1024 * 1024);

    // --- what is served --------------------------------------------------------------------------

    /** What both workloads do alike. */
    abstract static class Connection extends ChannelInboundHandlerAdapter {
        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            // A client that does not read is not read from, either.
            context.channel().config().setAutoRead(context.channel().isWritable());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }

    @ChannelHandler.Sharable
    static final class Echo extends Connection {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message, context.voidPromise());
        }
    }

    static final class Http extends Connection {
        static final ByteBuf KEPT = response("keep-alive");
        static final ByteBuf CLOSING = response("     close");

        private ByteBuf unfinished; // A request that is not whole, or null.
        private boolean ends;

        static ByteBuf response(String connection) {
            String text = "HTTP/1.1 404 Not Found\r\nConnection: " + connection + "\r\nContent-Type: text/plain\r\n"
                    + "Content-Length: 24\r\n\r\nThere is nothing here.\r\n";
            byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
            ByteBuf direct = Unpooled.directBuffer(bytes.length).writeBytes(bytes);
            return Unpooled.unreleasableBuffer(direct.asReadOnly());
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf input = (ByteBuf) message;
            if (unfinished != null) {
                unfinished.writeBytes(input);
                input.release();
                input = unfinished;
                unfinished = null;
            }
            while (!ends && answer(context, input)) {
            }
            if (ends || !input.isReadable()) {
                input.release();
            } else if (input.readableBytes() >= REQUEST_SIZE_MAX) {
                input.release();
                ends = true;
                context.close(); // No request is that long.
            } else {
                unfinished = context.alloc().directBuffer(REQUEST_SIZE_MAX).writeBytes(input);
                input.release();
            }
        }

        /** Answers the first request, if it is whole (RFC 9112, 9.3), and takes it from the input. */
        private boolean answer(ChannelHandlerContext context, ByteBuf input) {
            boolean stays = false;
            boolean said = false;
            int begin = input.readerIndex();
            int line = begin;
            for (;;) {
                int end = input.indexOf(line, input.writerIndex(), (byte) '\n');
                if (end < 0) {
                    return false;
                }
                int length = end - line;
                if (line == begin) {
                    stays = length >= 9 && is(input, end - 9, "http/1.1\r");
                } else if (length == 1 && input.getByte(line) == '\r') {
                    input.readerIndex(end + 1);
                    break;
                } else if (!said && length > 11 && is(input, line, "connection:")) {
                    int value = line + 11;
                    while (value < end && (input.getByte(value) == ' ' || input.getByte(value) == '\t')) {
                        ++value;
                    }
                    if (end - value >= 6 && is(input, value, "close\r")) {
                        stays = false;
                        said = true;
                    } else if (end - value >= 11 && is(input, value, "keep-alive\r")) {
                        stays = true;
                        said = true;
                    }
                }
                line = end + 1;
            }
            if (stays) {
                context.write(KEPT.duplicate(), context.voidPromise());
            } else {
                ends = true;
                context.writeAndFlush(CLOSING.duplicate()).addListener(ChannelFutureListener.CLOSE);
            }
            return true;
        }

        /** Whether these letters, which are lower case here, stand there in any case. */
        private static boolean is(ByteBuf input, int at, String letters) {
            for (int i = 0; i < letters.length(); ++i) {
                byte each = input.getByte(at + i);
                if ((each >= 'A' && each <= 'Z' ? each + ('a' - 'A') : each) != letters.charAt(i)) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            if (unfinished != null) {
                unfinished.release();
                unfinished = null;
            }
        }
    }

    // --- how it is started -----------------------------------------------------------------------

    private boolean http = false;
    private boolean ring = false;
    private int threads = 1;
    private int port = -1;

    /** Says why in one line, and ends the process. */
    static RuntimeException leave(int code, String why) {
        System.err.println("netty: " + why);
        System.exit(code);
        return new IllegalStateException();
    }

    static int number(String text, int least, int most) {
        try {
            int value = Integer.parseInt(text);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException error) {
            // It is told below.
        }
        throw leave(2, "no number from " + least + " to " + most + ": " + text);
    }

    Server(String[] arguments) {
        boolean version = false;
        for (int i = 0; i < arguments.length; ++i) {
            String name = arguments[i];
            if (name.equals("--version")) {
                version = true;
                continue;
            }
            if (!name.matches("--(workload|threads|port|transport)")) {
                throw leave(2, "unknown argument: " + name);
            }
            if (++i == arguments.length) {
                throw leave(2, "a value is missing after " + name);
            }
            String value = arguments[i];
            switch (name) {
                case "--threads" -> threads = number(value, 1, THREADS_MAX);
                case "--port" -> port = number(value, 0, 65535);
                case "--workload" -> http = choose(value, "echo", "http");
                default -> ring = choose(value, "epoll", "io_uring");
            }
        }
        if (version) {
            String number = Version.identify().get("netty-transport").artifactVersion();
            System.out.println("netty " + number + (ring ? " io_uring" : " epoll"));
            System.exit(0);
        }
        if (port < 0) {
            throw leave(2, "--port is missing");
        }
    }

    /** True for the second. */
    private static boolean choose(String value, String first, String second) {
        if (!value.equals(first) && !value.equals(second)) {
            throw leave(2, "neither " + first + " nor " + second + ": " + value);
        }
        return value.equals(second);
    }

    private IoHandlerFactory transport() {
        Throwable missing = ring ? IoUring.unavailabilityCause() : Epoll.unavailabilityCause();
        if (missing != null) {
            throw leave(1, missing.toString().lines().findFirst().orElse("no transport"));
        }
        if (!ring) {
            return EpollIoHandler.newFactory();
        }
        IoUringIoHandlerConfig config = new IoUringIoHandlerConfig();
        if (IoUring.isRegisterBufferRingSupported()) {
            config.setBufferRingConfig(IoUringBufferRingConfig.builder()
                    .bufferGroupId(BUFFER_GROUP)
                    .bufferRingSize(BUFFERS)
                    .batchSize(BUFFERS / 2)
                    .incremental(false)
                    .allocator(new IoUringFixedBufferRingAllocator(
                            PooledByteBufAllocator.DEFAULT, BUFFER_SIZE))
                    .build());
        }
        return IoUringIoHandler.newFactory(config);
    }

    private ChannelInitializer<SocketChannel> connections() {
        Echo echo = new Echo();
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(http ? new Http() : echo);
            }
        };
    }

    private void serve() throws InterruptedException {
        Class<? extends ServerChannel> listener =
                ring ? IoUringServerSocketChannel.class : EpollServerSocketChannel.class;
        // One group for all: what accepts is one of the threads that serve.
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(threads, transport());
        ServerBootstrap server = new ServerBootstrap();
        if (ring && IoUring.isRegisterBufferRingSupported()) {
            server.childOption(IoUringChannelOption.IO_URING_BUFFER_GROUP_ID, BUFFER_GROUP);
        }
        var listening = server
                .group(loops)
                .channel(listener)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .option(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
                .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, UNSENT)
                .childHandler(connections())
                .bind(new InetSocketAddress("127.0.0.1", port))
                .await();
        if (!listening.isSuccess()) {
            throw leave(1, "port " + port + ": " + listening.cause().getMessage());
        }
        // On SIGTERM a JVM would end with 143. Nothing here has to be brought to an end.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
        System.out.println("ready");
        listening.channel().closeFuture().await();
    }

    public static void main(String[] arguments) throws InterruptedException {
        new Server(arguments).serve();
    }
}
